package io.github.distributedlock.engine;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.engine.RunningCalls.Call;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.HoldOptions;
import io.github.distributedlock.engine.queue.AsyncDriver;
import io.github.distributedlock.engine.queue.Wait;
import io.github.distributedlock.engine.runtime.Events;
import io.github.distributedlock.engine.runtime.Failures;
import io.github.distributedlock.engine.runtime.NodeTasks;
import io.github.distributedlock.engine.runtime.Nodes;
import io.github.distributedlock.engine.runtime.Undo;
import org.jspecify.annotations.Nullable;

/**
 * Makes a handle of a request that no thread waits for, as {@link HandleAcquirer} does of
 * others; but nothing is re-entered. Safe for use by many threads.
 * <p>
 * Invariants: the call counts as running, for a stop, from before anything is asked of
 * the store until its handle is closed, or there is none. A future is completed, and the
 * listeners are told, where the application's callbacks run. What a future
 * does not take is given back as if it had never been held.
 */
final class AsyncAcquirer {

	/**
	 * How long at least a request waits for a thread that asks for it.
	 */
	private static final long LEAST_PATIENCE = TimeUnit.SECONDS.toNanos(1);

	private final Requests requests;

	private final RequestAcquirer requestAcquirer;

	private final Events events;

	private final NodeTasks tasks;

	private final Nodes nodes;

	private final HandleContext handleContext;

	private final LongAdder asking = new LongAdder();

	AsyncAcquirer(Requests requests, RequestAcquirer requestAcquirer, Events events, NodeTasks tasks, Nodes nodes,
			HandleContext handleContext) {
		this.requests = requests;
		this.requestAcquirer = requestAcquirer;
		this.events = events;
		this.tasks = tasks;
		this.nodes = nodes;
		this.handleContext = handleContext;
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
			return CompletableFuture.failedFuture(ex);
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
		AsyncDriver driver = new AsyncDriver(this.tasks, this.handleContext.time());
		RequestAcquisition acquisition = this.requestAcquirer.begin(keys, options, wait, driver);
		CompletableFuture<T> future = new CallbackFuture<>(this.handleContext.workers()::callback);
		future.whenComplete((value, failure) -> driver.withdraw());
		Pending<T> pending = new Pending<>(request, keys, options, wait, result, call, acquisition, future);
		Undo.ifFails(() -> {
			acquisition.queueUp();
			driver.start(acquisition, pending);
		}, acquisition::end);
		return future;
	}

	/**
	 * How many requests ask for keys now.
	 */
	int asking() {
		return this.asking.intValue();
	}

	/**
	 * A future that is completed, and has its asynchronous dependents run, where the
	 * application's callbacks run.
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

		private final CompletableFuture<T> future;

		private Pending(LockRequest request, List<String> keys, HoldOptions options, Wait wait,
				Function<@Nullable LockHandle, T> result, Call call, RequestAcquisition acquisition,
				CompletableFuture<T> future) {
			this.request = request;
			this.keys = keys;
			this.options = options;
			this.wait = wait;
			this.result = result;
			this.call = call;
			this.acquisition = acquisition;
			this.future = future;
		}

		@Override
		public Object node() {
			return AsyncAcquirer.this.nodes.of(this.acquisition.key());
		}

		@Override
		public long patience() {
			return Math.max(LEAST_PATIENCE, this.wait.limit().toNanos()) - this.wait.waited().toNanos();
		}

		@Override
		public RuntimeException impatient() {
			return Failures.othersNotAnswered(this.acquisition.key(), this.wait.waited());
		}

		@Override
		public void begins() {
			AsyncAcquirer.this.requests.requireSupported(this.request);
		}

		@Override
		public void ended(@Nullable Throwable failure) {
			EngineHandle handle = null;
			Throwable why = failure;
			try {
				handle = open(failure);
			}
			catch (Throwable ex) {
				why = ex;
			}
			complete(handle, why);
		}

		private @Nullable EngineHandle open(@Nullable Throwable failure) {
			List<Hold> holds = this.acquisition.holds();
			boolean opened = false;
			try {
				EngineHandle handle = (holds != null && failure == null)
						? new EngineHandle(holds, this.keys, true, this.call, AsyncAcquirer.this.handleContext) : null;
				opened = handle != null;
				return handle;
			}
			finally {
				if (holds != null && !opened) {
					AsyncAcquirer.this.requestAcquirer.undo(holds);
				}
				AsyncAcquirer.this.asking.decrement();
				if (!opened) {
					AsyncAcquirer.this.handleContext.calls().end(this.call);
				}
			}
		}

		private void complete(@Nullable EngineHandle handle, @Nullable Throwable failure) {
			AtomicBoolean begun = new AtomicBoolean();
			Runnable completion = () -> {
				if (begun.getAndSet(true)) {
					return; // An executor has run it, and then failed.
				}
				if (failure != null) {
					this.future.completeExceptionally(failure);
				}
				else {
					tell(handle);
					take(handle);
				}
			};
			try {
				AsyncAcquirer.this.handleContext.workers().callback(completion);
			}
			catch (OutOfMemoryError noThread) {
				completion.run(); // Better here than never.
			}
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

		private void take(@Nullable EngineHandle handle) {
			boolean taken = false;
			try {
				taken = this.future.complete(this.result.apply(handle));
			}
			catch (RuntimeException ex) {
				this.future.completeExceptionally(ex);
			}
			finally {
				if (!taken && handle != null) {
					handle.undo();
				}
			}
		}

	}

}
