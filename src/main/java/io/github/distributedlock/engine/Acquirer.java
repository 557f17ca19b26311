package io.github.distributedlock.engine;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockInterruptedException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.WaitObserver.Observed;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.RunningCalls.Call;
import io.github.distributedlock.engine.lease.EngineTime.Workers;
import io.github.distributedlock.engine.lease.Events;
import io.github.distributedlock.engine.lease.Failures;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.HoldOptions;
import io.github.distributedlock.engine.lease.NodeTasks;
import org.jspecify.annotations.Nullable;

/**
 * Makes a handle of a request: checks it, re-enters or acquires its keys, and opens the
 * handle. Safe for use by many threads.
 * <p>
 * Invariants: the call counts as running, for a stop, from before anything is asked of
 * the store until its handle is closed, or there is none. The handle is open before the
 * listeners are told. The interrupt flag of a thread that waits is afterwards as it was
 * before, or set if the thread was interrupted meanwhile.
 * <p>
 * What a request without a thread re-enters is what the chain holds that asks, and not
 * the thread. Its future is completed, and the listeners are told, where the
 * application's callbacks run; one that re-enters is complete when it is returned. What a
 * future does not take is given back as if it had never been held.
 */
final class Acquirer {

	private final Requests requests;

	private final RunningCalls calls;

	private final EngineHandle.Factory handles;

	private final RequestAcquisition.Factory acquisitions;

	private final Events events;

	private final NodeTasks tasks;

	private final LockBackend backend;

	private final Workers workers;

	private final ObservedWaits observedWaits;

	private final Supplier<UnaryOperator<Runnable>> contextCapture;

	private final Reentrancy reentrancy;

	private final EventLoops eventLoops = new EventLoops();

	private final LongAdder asking = new LongAdder();

	Acquirer(LockEngineBuilder settings, RunningCalls calls, EngineHandle.Factory handles,
			RequestAcquisition.Factory acquisitions, Events events, NodeTasks tasks, Workers workers) {
		this.contextCapture = settings.contextCapture;
		this.backend = settings.backend;
		this.requests = new Requests(settings);
		this.observedWaits = new ObservedWaits(settings.waitObserver);
		this.calls = calls;
		this.handles = handles;
		this.reentrancy = handles.reentrancy();
		this.acquisitions = acquisitions;
		this.events = events;
		this.tasks = tasks;
		this.workers = workers;
	}

	/**
	 * How many requests ask for keys now.
	 */
	int asking() {
		return this.asking.intValue();
	}

	/**
	 * Serves a request on the calling thread.
	 * @param wait how long to wait, begun
	 * @return the handle, or {@code null} if a key was busy for all that time
	 */
	@Nullable LockHandle acquire(LockRequest request, Wait wait) {
		Call call = this.calls.begin(request.awaitedOnStop());
		EngineHandle handle = null;
		try {
			handle = acquire(request, wait, call);
			return handle;
		}
		finally {
			if (handle == null) {
				this.calls.end(call);
			}
		}
	}

	private @Nullable EngineHandle acquire(LockRequest request, Wait wait, Call call) {
		List<String> keys = this.requests.keysInOrder(request);
		// Before the store is asked for anything, be it only what it can do.
		boolean interrupted = Thread.interrupted();
		try {
			this.requests.requireSupported(request, wait);
			interrupted |= Thread.interrupted();
			HoldOptions options = this.requests.options(request);
			List<Hold> reentered = this.reentrancy.reenter(keys, options);
			if (reentered != null) {
				return open(reentered, keys, request.mode(), request.detached(), call, this.reentrancy);
			}
			if (interrupted && wait.isAllowed()) {
				wait.interrupted("before");
			}
			return ask(keys, options, wait, call, this.observedWaits.begin(request));
		}
		catch (InterruptedException ex) {
			interrupted = true;
			throw new LockInterruptedException("Interrupted after waiting " + Failures.text(wait.waited())
					+ " for lock " + LockException.printable(keys) + "; it is not held", keys, ex);
		}
		finally {
			if (interrupted || wait.wasInterrupted()) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private @Nullable EngineHandle ask(List<String> keys, HoldOptions options, Wait wait, Call call,
			@Nullable Observed observed) throws InterruptedException {
		EngineHandle handle = null;
		boolean done = false;
		this.asking.increment();
		try {
			this.eventLoops.check(options.name(), keys);
			Acquisition acquisition = this.acquisitions.begin(this.reentrancy, keys, options, wait);
			wait.run(acquisition);
			List<Hold> holds = acquisition.holds();
			if (holds != null) {
				handle = open(holds, keys, options.mode(), options.request().detached(), call, this.reentrancy);
			}
			publish(handle, options, wait);
			ObservedWaits.end(observed, handle != null, wait);
			done = true;
			return handle;
		}
		catch (Throwable ex) {
			ObservedWaits.fail(observed, ex);
			throw ex;
		}
		finally {
			this.asking.decrement();
			if (!done && handle != null) { // No memory, or no stack, to tell of it.
				handle.undo(this.reentrancy::undo);
			}
		}
	}

	private EngineHandle open(List<Hold> holds, List<String> keys, LockMode mode, boolean detached, Call call,
			Reentrancy reentrancy) {
		try {
			return this.handles.open(holds, keys, mode, detached, call);
		}
		catch (RuntimeException | Error ex) {
			reentrancy.undo(holds);
			throw ex;
		}
	}

	private void publish(@Nullable EngineHandle handle, HoldOptions options, Wait wait) {
		if (handle == null) {
			this.events.publish(new LockEvent.NotAcquired(options.request(), wait.waited(), wait.holder()));
		}
		else if (this.events.areHeard()) {
			this.events.publish(new LockEvent.Acquired(options.request(), handle.owner(), wait.waited()));
		}
	}

	/**
	 * Serves a request that no thread waits for.
	 * @param wait how long to wait, begun
	 * @param result makes the result of the handle, or of {@code null} if a key was busy
	 * for all that time
	 * @return the result, to be cancelled, or completed by others, if it is not wanted
	 */
	<T> CompletableFuture<T> acquireAsync(LockRequest request, Wait wait, Function<@Nullable LockHandle, T> result) {
		Call call = this.calls.begin(request.awaitedOnStop());
		this.asking.increment();
		boolean begun = false;
		try {
			List<String> keys = this.requests.keysInOrder(request);
			Pending<T> pending = new Pending<>(keys, this.requests.options(request), wait, result, call,
					captureContext());
			pending.begin();
			begun = true;
			return pending;
		}
		catch (RuntimeException ex) {
			CompletableFuture<T> failed = new CallbackFuture<>(this.workers::callback);
			failed.completeExceptionally(ex);
			return failed;
		}
		finally {
			if (!begun) {
				this.asking.decrement();
				this.calls.end(call);
			}
		}
	}

	private UnaryOperator<Runnable> captureContext() {
		try {
			return this.contextCapture.get();
		}
		catch (Throwable ex) {
			Failures.caught(ex, Acquirer::contextOfRequest);
			return UnaryOperator.identity();
		}
	}

	/**
	 * Runs a task once: in a context, or without it if that cannot be set.
	 */
	private static void run(Runnable task, UnaryOperator<Runnable> inContext) {
		AtomicBoolean begun = new AtomicBoolean();
		Runnable once = () -> {
			if (!begun.getAndSet(true)) {
				task.run();
			}
		};
		Failures.run(() -> inContext.apply(once).run(), Acquirer::contextOfRequest);
		once.run();
	}

	private static String contextOfRequest() {
		return "The context of a request for a lock";
	}

	/**
	 * A future that is completed, and has its asynchronous dependents run, where the
	 * application's callbacks run, in the context of the request.
	 */
	private static class CallbackFuture<T> extends CompletableFuture<T> {

		private final Executor callbacks;

		private CallbackFuture(Executor callbacks) {
			this.callbacks = callbacks;
		}

		@Override
		public Executor defaultExecutor() {
			return this.callbacks;
		}

		@Override
		public <U> CompletableFuture<U> newIncompleteFuture() {
			return new CallbackFuture<>(this.callbacks);
		}

	}

	/**
	 * A request that no thread waits for, and its future.
	 */
	private final class Pending<T> extends CallbackFuture<T> implements AsyncDriver.Client {

		private final List<String> keys;

		private final HoldOptions options;

		private final Wait wait;

		private final Function<@Nullable LockHandle, T> result;

		private final Call call;

		private final UnaryOperator<Runnable> inContext;

		private final Reentrancy reentrancy = Acquirer.this.handles.reentrancyOf(CurrentLock.chain());

		private @Nullable Acquisition acquisition;

		/**
		 * {@code null} if nobody observes the wait.
		 */
		private @Nullable Observed observed;

		private final AtomicBoolean finishes = new AtomicBoolean();

		/**
		 * What came of it. Written before the future is to be completed.
		 */
		private @Nullable EngineHandle handle;

		private @Nullable Throwable failure;

		private Pending(List<String> keys, HoldOptions options, Wait wait, Function<@Nullable LockHandle, T> result,
				Call call, UnaryOperator<Runnable> inContext) {
			super((task) -> Acquirer.this.workers.callback(() -> run(task, inContext)));
			this.keys = keys;
			this.options = options;
			this.wait = wait;
			this.result = result;
			this.call = call;
			this.inContext = inContext;
		}

		private void begin() {
			List<Hold> reentered = this.reentrancy.reenter(this.keys, this.options);
			if (reentered != null) {
				// A store that has the keys has been asked what it offers.
				Failures.orUndo(this::checkSupport, () -> this.reentrancy.undo(reentered));
				complete(this.result.apply(open(reentered)));
				Acquirer.this.asking.decrement();
				return;
			}
			AsyncDriver driver = new AsyncDriver(Acquirer.this.backend, Acquirer.this.tasks, this.wait);
			this.observed = Acquirer.this.observedWaits.begin(this.options.request());
			try {
				// By others; when the request itself completes it, it has ended.
				whenComplete((value, failure) -> driver.withdraw());
				this.acquisition = Acquirer.this.acquisitions.begin(this.reentrancy, this.keys, this.options,
						this.wait);
			}
			catch (Throwable ex) {
				ObservedWaits.fail(this.observed, ex);
				throw ex;
			}
			driver.start(this.acquisition, this);
		}

		private EngineHandle open(List<Hold> holds) {
			return Acquirer.this.open(holds, this.keys, this.options.mode(), true, this.call, this.reentrancy);
		}

		@Override
		public void checkSupport() {
			Acquirer.this.requests.requireSupported(this.options.request(), this.wait);
		}

		@Override
		public void ended(@Nullable Throwable failure) {
			Acquirer.this.asking.decrement();
			this.failure = failure;
			try {
				List<Hold> holds = Objects.requireNonNull(this.acquisition).holds();
				if (holds != null && failure == null) {
					this.handle = open(holds);
				}
				else if (holds != null) {
					this.reentrancy.undo(holds);
				}
			}
			catch (Throwable ex) {
				this.failure = ex;
			}
			finally {
				if (this.handle == null) {
					Acquirer.this.calls.end(this.call);
				}
			}
			if (this.handle == null && isDone() && this.observed == null) {
				return; // It was withdrawn, and nobody is to be told.
			}
			try {
				Acquirer.this.workers.callback(() -> run(this::finish, this.inContext));
			}
			catch (Throwable noThread) {
				finish(); // Better here than never.
			}
		}

		/**
		 * Completes the future, once: an executor may run this, and then fail, so that it
		 * is run again.
		 */
		private void finish() {
			if (this.finishes.getAndSet(true)) {
				return;
			}
			boolean taken = false;
			try {
				observeEnd();
				taken = publishAndComplete();
			}
			catch (Throwable ex) {
				completeExceptionally(ex);
			}
			finally {
				if (!taken && this.handle != null) {
					this.handle.undo();
				}
			}
		}

		/**
		 * Before the future is completed, so that the wait has ended for those that it
		 * completes.
		 */
		private void observeEnd() {
			if (this.failure != null) {
				ObservedWaits.fail(this.observed, this.failure);
			}
			else if (this.observed != null && isDone()) {
				ObservedWaits.fail(this.observed, new CancellationException("The request was withdrawn"));
			}
			else {
				ObservedWaits.end(this.observed, this.handle != null, this.wait);
			}
		}

		private boolean publishAndComplete() {
			if (this.failure != null) {
				return completeExceptionally(this.failure);
			}
			if (isDone()) {
				return false;
			}
			publish(this.handle, this.options, this.wait);
			return complete(this.result.apply(this.handle));
		}

	}

}
