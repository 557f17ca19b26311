package io.github.distributedlock.engine;

import java.util.List;
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
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.WaitObserver.Observed;
import io.github.distributedlock.engine.RunningCalls.Call;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.HoldOptions;
import io.github.distributedlock.engine.queue.AsyncDriver;
import io.github.distributedlock.engine.queue.Wait;
import io.github.distributedlock.engine.runtime.Events;
import io.github.distributedlock.engine.runtime.Failures;
import io.github.distributedlock.engine.runtime.NodeTasks;
import io.github.distributedlock.engine.runtime.Nodes;
import io.github.distributedlock.engine.runtime.UserCode;
import org.jspecify.annotations.Nullable;

/**
 * Makes a handle of a request that no thread waits for, as {@link HandleAcquirer} does of
 * others; but what is re-entered is what the chain holds that asks, and not the thread.
 * Safe for use by many threads.
 * <p>
 * Invariants: the call counts as running, for a stop, from before anything is asked of
 * the store until its handle is closed, or there is none. A future is completed, and the
 * listeners are told, where the application's callbacks run; one that re-enters is
 * complete when it is returned. What a future does not take is given back as if it had
 * never been held.
 */
final class AsyncAcquirer {

	private final Requests requests;

	private final RequestAcquirer requestAcquirer;

	private final Events events;

	private final NodeTasks tasks;

	private final Nodes nodes;

	private final HandleContext handleContext;

	private final Supplier<UnaryOperator<Runnable>> contextCapture;

	private final ObservedWaits observedWaits;

	private final LongAdder asking = new LongAdder();

	/**
	 * Creates it.
	 * @param contextCapture see {@link LockEngineBuilder#contextCapture}
	 */
	AsyncAcquirer(Requests requests, RequestAcquirer requestAcquirer, Events events, NodeTasks tasks, Nodes nodes,
			HandleContext handleContext, Supplier<UnaryOperator<Runnable>> contextCapture,
			ObservedWaits observedWaits) {
		this.requests = requests;
		this.requestAcquirer = requestAcquirer;
		this.events = events;
		this.tasks = tasks;
		this.nodes = nodes;
		this.handleContext = handleContext;
		this.contextCapture = contextCapture;
		this.observedWaits = observedWaits;
	}

	/**
	 * Serves a request.
	 * @param request what is asked for
	 * @param wait how long to wait, begun
	 * @param result makes the result of the handle, or of {@code null} if a key was busy
	 * for all that time
	 * @return the result, to be cancelled, or completed by others, if it is not wanted
	 */
	<T> CompletableFuture<T> acquire(LockRequest request, Wait wait, Function<@Nullable LockHandle, T> result) {
		Call call = this.handleContext.calls().begin(request.awaitedOnStop());
		this.asking.increment();
		boolean begun = false;
		try {
			CompletableFuture<T> future = begin(request, wait, result, call);
			begun = true;
			return future;
		}
		catch (RuntimeException ex) {
			CompletableFuture<T> failed = new CallbackFuture<>(this.handleContext.workers()::callback);
			failed.completeExceptionally(ex);
			return failed;
		}
		finally {
			if (!begun) {
				this.asking.decrement();
				this.handleContext.calls().end(call);
			}
		}
	}

	private <T> CompletableFuture<T> begin(LockRequest request, Wait wait, Function<@Nullable LockHandle, T> result,
			Call call) {
		List<String> keys = this.requests.keysInOrder(request);
		HoldOptions options = this.requests.options(request);
		UnaryOperator<Runnable> inContext = captureContext();
		CallbackFuture<T> future = new CallbackFuture<>(
				(task) -> this.handleContext.workers().callback(() -> run(task, inContext)));
		Reentrancy reentrancy = Reentrancy.ofChain(CurrentLock.chain(), this.handleContext.lossHandler(),
				this.requestAcquirer::undo);
		List<Hold> reentered = reentrancy.reenter(keys, options);
		if (reentered != null) {
			future.complete(result.apply(reenter(request, reentered, keys, wait, call)));
			this.asking.decrement();
			return future;
		}
		AsyncDriver driver = new AsyncDriver(this.tasks, this.handleContext.time());
		Observed observed = this.observedWaits.begin(request);
		Pending<T> pending;
		try {
			RequestAcquisition acquisition = this.requestAcquirer.begin(reentrancy, keys, options, wait, driver);
			// By others; when the request itself completes it, it has ended.
			future.whenComplete((value, failure) -> driver.withdraw());
			pending = new Pending<>(request, keys, options, wait, result, call, acquisition, inContext, future,
					observed);
			acquisition.queueUp();
		}
		catch (Throwable ex) {
			ObservedWaits.fail(observed, ex);
			throw ex;
		}
		driver.start(pending.acquisition, pending);
		return future;
	}

	private UnaryOperator<Runnable> captureContext() {
		try {
			return this.contextCapture.get();
		}
		catch (Throwable ex) {
			UserCode.caught(ex, AsyncAcquirer::contextOfRequest);
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
		UserCode.run(() -> inContext.apply(once).run(), AsyncAcquirer::contextOfRequest);
		once.run();
	}

	private static String contextOfRequest() {
		return "The context of a request for a lock";
	}

	private LockHandle reenter(LockRequest request, List<Hold> holds, List<String> keys, Wait wait, Call call) {
		try {
			// A store that has the keys has been asked what it offers.
			this.requests.requireSupported(request, wait);
			return new EngineHandle(holds, keys, request.mode(), true, call, this.handleContext);
		}
		catch (RuntimeException | Error ex) {
			this.requestAcquirer.undo(holds);
			throw ex;
		}
	}

	/**
	 * How many requests ask for keys now.
	 */
	int asking() {
		return this.asking.intValue();
	}

	/**
	 * A future that is completed, and has its asynchronous dependents run, where the
	 * application's callbacks run, in the context of the request.
	 */
	private static final class CallbackFuture<T> extends CompletableFuture<T> {

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
	 * A request on its way to its future.
	 */
	private final class Pending<T> implements AsyncDriver.Client {

		private final LockRequest request;

		private final List<String> keys;

		private final HoldOptions options;

		private final Wait wait;

		private final Function<@Nullable LockHandle, T> result;

		private final Call call;

		private final RequestAcquisition acquisition;

		private final UnaryOperator<Runnable> inContext;

		private final CallbackFuture<T> future;

		/**
		 * {@code null} if nobody observes the wait.
		 */
		private final @Nullable Observed observed;

		private final AtomicBoolean completes = new AtomicBoolean();

		/**
		 * What came of it. Written before the future is to be completed.
		 */
		private @Nullable EngineHandle handle;

		private @Nullable Throwable failure;

		private Pending(LockRequest request, List<String> keys, HoldOptions options, Wait wait,
				Function<@Nullable LockHandle, T> result, Call call, RequestAcquisition acquisition,
				UnaryOperator<Runnable> inContext, CallbackFuture<T> future, @Nullable Observed observed) {
			this.request = request;
			this.keys = keys;
			this.options = options;
			this.wait = wait;
			this.result = result;
			this.call = call;
			this.acquisition = acquisition;
			this.inContext = inContext;
			this.future = future;
			this.observed = observed;
		}

		@Override
		public Object node() {
			return AsyncAcquirer.this.nodes.of(this.acquisition.key());
		}

		@Override
		public long left() {
			return this.wait.left();
		}

		@Override
		public void asks() {
			AsyncAcquirer.this.requests.requireSupported(this.request, this.wait);
		}

		@Override
		public RuntimeException impatient() {
			return Failures.othersNotAnswered(this.acquisition.key(), this.wait.waited());
		}

		@Override
		public void ended(@Nullable Throwable failure) {
			AsyncAcquirer.this.asking.decrement();
			try {
				this.handle = open(failure);
				this.failure = failure;
			}
			catch (Throwable ex) {
				this.failure = ex;
			}
			finally {
				if (this.handle == null) {
					AsyncAcquirer.this.handleContext.calls().end(this.call);
				}
			}
			if (this.handle == null && this.future.isDone() && this.observed == null) {
				return; // It was withdrawn, and nobody is to be told.
			}
			try {
				AsyncAcquirer.this.handleContext.workers().callback(() -> run(this::complete, this.inContext));
			}
			catch (Throwable noThread) {
				complete(); // Better here than never.
			}
		}

		private @Nullable EngineHandle open(@Nullable Throwable failure) {
			List<Hold> holds = this.acquisition.holds();
			boolean opened = false;
			try {
				EngineHandle handle = (holds != null && failure == null) ? new EngineHandle(holds, this.keys,
						this.options.mode(), true, this.call, AsyncAcquirer.this.handleContext) : null;
				opened = handle != null;
				return handle;
			}
			finally {
				if (holds != null && !opened) {
					AsyncAcquirer.this.requestAcquirer.undo(holds);
				}
			}
		}

		/**
		 * Completes the future, once: an executor may run this, and then fail, so that it
		 * is run again.
		 */
		private void complete() {
			if (this.completes.getAndSet(true)) {
				return;
			}
			boolean taken = false;
			try {
				observeEnd();
				taken = completes();
			}
			catch (Throwable ex) {
				this.future.completeExceptionally(ex);
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
			else if (this.observed != null && this.future.isDone()) {
				ObservedWaits.fail(this.observed, new CancellationException("The request was withdrawn"));
			}
			else {
				ObservedWaits.end(this.observed, this.handle != null, this.wait);
			}
		}

		private boolean completes() {
			if (this.failure != null) {
				return this.future.completeExceptionally(this.failure);
			}
			if (this.future.isDone()) {
				return false;
			}
			tell(this.handle);
			return this.future.complete(this.result.apply(this.handle));
		}

		private void tell(@Nullable EngineHandle handle) {
			if (handle != null) {
				AsyncAcquirer.this.requestAcquirer.publish(this.keys, this.acquisition.owner(), this.options,
						this.wait);
			}
			else {
				AsyncAcquirer.this.events.publish(new LockEvent.NotAcquired(this.options.name(), this.keys,
						this.wait.waited(), this.wait.holder()));
			}
		}

	}

}
