package io.github.distributedlock.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
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

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockInterruptedException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.WaitObserver;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.engine.EngineTime.Workers;
import io.github.distributedlock.engine.Wait.Acquisition;
import io.github.distributedlock.internal.Binding;
import io.github.distributedlock.internal.Requests;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns a request into a handle: checks the request, re-enters or acquires the keys, and
 * opens the handle. Safe for use by many threads.
 * <p>
 * Invariants: the call counts as running, for a stop, from before anything is asked of
 * the store until the handle is closed, or there is none. The handle is open before the
 * listeners are notified. The interrupt flag of a thread that waits is afterwards as it
 * was before, or set if the thread was interrupted meanwhile.
 * <p>
 * A request without a thread re-enters what the requesting chain holds, and not what the
 * calling thread holds. The future of such a request is completed, and the listeners are
 * notified, where the application's callbacks run. The future of a request that re-enters
 * is complete when the future is returned. A handle that the future does not accept is
 * released as if the handle had never been held.
 */
final class Acquirer {

	private static final Logger logger = LoggerFactory.getLogger(Acquirer.class);

	/**
	 * The settings of an engine for its requests.
	 */
	record Settings(Duration leaseTime, Duration keepTime, int maxKeyBytes, @Nullable WaitObserver waitObserver,
			Supplier<UnaryOperator<Runnable>> contextCapture) {
	}

	private final Settings settings;

	private final Lifecycle lifecycle;

	private final EngineHandle.Factory handles;

	private final KeyAcquisition.Factory acquisitions;

	private final KeptKeys kept;

	private final Leases leases;

	private final NodeTasks tasks;

	private final LockBackend backend;

	private final Workers workers;

	private final Reentrancy reentrancy;

	private final LongAdder requestsWaiting = new LongAdder();

	private final AtomicBoolean warnedOfExpression = new AtomicBoolean();

	Acquirer(Settings settings, EngineHandle.Factory handles, KeyAcquisition.Factory acquisitions, KeptKeys kept,
			NodeTasks tasks, Workers workers) {
		this.settings = settings;
		this.backend = acquisitions.backend();
		this.lifecycle = acquisitions.lifecycle();
		this.handles = handles;
		this.reentrancy = Reentrancy.ofThreads(acquisitions.leases(), handles.releaser());
		this.acquisitions = acquisitions;
		this.kept = kept;
		this.leases = acquisitions.leases();
		this.tasks = tasks;
		this.workers = workers;
	}

	/**
	 * Returns how many requests ask for keys now.
	 */
	int requestsWaiting() {
		return this.requestsWaiting.intValue();
	}

	/**
	 * Serves a request on the calling thread.
	 * @param wait how long to wait, begun
	 * @return the handle, or {@code null} if a key was busy for all that time
	 */
	@Nullable LockHandle acquire(LockRequest request, Wait wait) {
		this.lifecycle.begin(wait, request.awaitedOnStop());
		EngineHandle handle = null;
		boolean interrupted = false;
		try {
			List<String> keys = keysInOrder(request);
			// Cleared before the store is asked for anything, even for what the store can
			// do.
			interrupted = Thread.interrupted();
			requireSupported(request, wait);
			interrupted |= Thread.interrupted();
			HoldOptions options = options(request);
			List<Hold> reentered = this.reentrancy.reenter(keys, options);
			if (reentered != null) {
				handle = open(reentered, keys, options, request.detached(), wait, this.reentrancy);
				return handle;
			}
			if (interrupted && wait.isAllowed()) {
				wait.interrupted("before");
			}
			wait.beginObservation(this.settings.waitObserver(), request);
			handle = acquireFromStore(keys, options, wait);
			return handle;
		}
		catch (InterruptedException ex) {
			interrupted = true;
			throw new LockInterruptedException("Interrupted after waiting " + Failures.text(wait.waited())
					+ " for lock " + LockException.printable(request.keys()) + "; it is not held", request.keys(), ex);
		}
		catch (OutOfMemoryError ex) {
			if (Failures.explained(ex, request.keys().get(0)) instanceof LockBackendException noThread) {
				throw noThread;
			}
			throw ex;
		}
		finally {
			if (interrupted || wait.wasInterrupted()) {
				Thread.currentThread().interrupt();
			}
			if (handle == null) {
				this.lifecycle.end(wait);
			}
		}
	}

	/**
	 * Returns the keys in the order in which every JVM locks them, so that two requests
	 * cannot wait for each other.
	 */
	private List<String> keysInOrder(LockRequest request) {
		request.requireValid();
		List<String> keys = request.keys();
		if (keys.size() == 1) {
			check(keys.get(0));
			return keys;
		}
		keys.forEach(this::check);
		return keys.stream().sorted().toList();
	}

	private void check(String key) {
		requireNotTooLong(key);
		int begin = key.indexOf('{');
		if (begin > 0 && "#$".indexOf(key.charAt(begin - 1)) >= 0 && key.indexOf('}', begin) > 0
				&& this.warnedOfExpression.compareAndSet(false, true)) {
			logger.warn(
					"Lock key '{}' looks like an expression, which is evaluated in annotations only: locked in code,"
							+ " it is one lock for all values. Put the value into the key, as \"order:\" + id does",
					LockException.printable(key));
		}
	}

	void requireNotTooLong(String key) {
		// No character takes more than three bytes.
		if (key.length() > this.settings.maxKeyBytes() / 3) {
			int bytes = key.getBytes(StandardCharsets.UTF_8).length;
			if (bytes > this.settings.maxKeyBytes()) {
				throw new IllegalArgumentException(
						"Lock key '" + LockException.printable(key.substring(0, Math.min(40, key.length()))) + "…' has "
								+ bytes + " bytes, but at most " + this.settings.maxKeyBytes()
								+ " are allowed. Lock by an identifier, not by content, or raise the engine's"
								+ " maxKeyBytes (distributed-lock.max-key-bytes)");
			}
		}
		this.backend.checkKey(key);
	}

	/**
	 * Refuses a request for what the store cannot do, which the store may have to be
	 * asked. A request that may wait is not refused because the store could not be asked:
	 * the request asks again, by acquiring.
	 */
	private void requireSupported(LockRequest request, Wait wait) {
		if (LockFeature.of(request).isEmpty()) {
			return;
		}
		try {
			this.backend.checkSupport(request);
		}
		catch (LockBackendException ex) {
			if (!ex.isRetryable() || !wait.isAllowed()) {
				throw ex;
			}
		}
	}

	private HoldOptions options(LockRequest request) {
		HoldOptions options = HoldOptions.of(request, this.settings.leaseTime());
		Duration own = request.keepTime();
		Duration keep = (own != null) ? own : this.settings.keepTime();
		boolean stays = !keep.isZero() && options.mayStay() && this.kept.canStay();
		return stays ? options.keeping(keep, this.backend.grantLease()) : options;
	}

	private @Nullable EngineHandle acquireFromStore(List<String> keys, HoldOptions options, Wait wait)
			throws InterruptedException {
		EngineHandle handle = null;
		boolean done = false;
		this.requestsWaiting.increment();
		try {
			Acquisition acquisition = RequestAcquisition.begin(this.acquisitions, this.reentrancy, keys, options, wait);
			wait.run(acquisition);
			List<Hold> holds = acquisition.holds();
			if (holds != null) {
				handle = open(holds, keys, options, options.request().detached(), wait, this.reentrancy);
			}
			publish(handle, options, wait);
			wait.end(handle != null);
			done = true;
			return handle;
		}
		catch (Throwable ex) {
			wait.fail(ex);
			throw ex;
		}
		finally {
			this.requestsWaiting.decrement();
			if (!done && handle != null) { // No memory or stack to tell of the handle.
				handle.undo(this.reentrancy.undo());
			}
		}
	}

	private EngineHandle open(List<Hold> holds, List<String> keys, HoldOptions options, boolean detached, Wait call,
			Reentrancy reentrancy) {
		try {
			return this.handles.open(holds, keys, options, detached, call);
		}
		catch (RuntimeException | Error ex) {
			reentrancy.undo().accept(holds);
			throw ex;
		}
	}

	private void publish(@Nullable EngineHandle handle, HoldOptions options, Wait wait) {
		if (handle == null) {
			this.leases.events().publish(new LockEvent.NotAcquired(options.request(), wait.waited(), wait.holder()));
		}
		else if (this.leases.events().areObserved()) {
			handle.announce();
			this.leases.events().publish(new LockEvent.Acquired(options.request(), handle.owner(), wait.waited()));
		}
	}

	/**
	 * Serves a request that no thread waits for.
	 * @param wait how long to wait, begun
	 * @param result makes the result of the handle, or of {@code null} if a key was busy
	 * for all that time
	 * @return the result, to be cancelled, or completed by others, if the result is not
	 * wanted
	 */
	<T> CompletableFuture<T> acquireAsync(LockRequest request, Wait wait, Function<@Nullable LockHandle, T> result) {
		this.lifecycle.begin(wait, request.awaitedOnStop());
		this.requestsWaiting.increment();
		try {
			return new Pending<>(keysInOrder(request), options(request), wait, result, captureContext()).begin();
		}
		catch (Throwable ex) {
			this.requestsWaiting.decrement();
			this.lifecycle.end(wait);
			Throwable failure = Failures.explained(ex, request.keys().get(0));
			if (!(failure instanceof RuntimeException)) {
				throw ex;
			}
			CompletableFuture<T> failed = new CallbackFuture<>(this.workers::callback, null);
			failed.completeExceptionally(failure);
			return failed;
		}
	}

	private UnaryOperator<Runnable> captureContext() {
		try {
			return this.settings.contextCapture().get();
		}
		catch (Throwable ex) {
			Failures.caught(ex, Acquirer::contextOfRequest);
			return UnaryOperator.identity();
		}
	}

	/**
	 * Returns a task that runs once, however often the task is run, since an executor may
	 * run a task and then fail. The task runs in a context, or without the context if
	 * that cannot be set.
	 */
	private static Runnable once(Runnable task, UnaryOperator<Runnable> inContext) {
		AtomicBoolean begun = new AtomicBoolean();
		Runnable once = () -> {
			if (!begun.getAndSet(true)) {
				task.run();
			}
		};
		return () -> {
			Failures.run(() -> inContext.apply(once).run(), Acquirer::contextOfRequest);
			once.run();
		};
	}

	private static String contextOfRequest() {
		return "The context of a request for a lock";
	}

	/**
	 * A future that is completed, and has its asynchronous dependents run, where the
	 * application's callbacks run, in the context of the request. A dependent knows the
	 * request that the dependent comes from.
	 */
	private static class CallbackFuture<T> extends CompletableFuture<T> implements Requests.Withdrawable {

		private final Executor callbacks;

		private final @Nullable CallbackFuture<?> origin;

		private CallbackFuture(Executor callbacks, @Nullable CallbackFuture<?> origin) {
			this.callbacks = callbacks;
			this.origin = origin;
		}

		@Override
		public void withdraw() {
			((this.origin != null) ? this.origin : this).cancel(false);
		}

		@Override
		public Executor defaultExecutor() {
			return this.callbacks;
		}

		@Override
		public <U> CompletableFuture<U> newIncompleteFuture() {
			return new CallbackFuture<>(this.callbacks, (this.origin != null) ? this.origin : this);
		}

	}

	/**
	 * A request that no thread waits for, and the future of the request.
	 */
	private final class Pending<T> extends CallbackFuture<T> implements AsyncDriver.Client {

		private final List<String> keys;

		private final HoldOptions options;

		private final Wait wait;

		private final Function<@Nullable LockHandle, T> result;

		private final UnaryOperator<Runnable> inContext;

		private final Reentrancy reentrancy = Reentrancy.ofChain(Binding.chain(), Acquirer.this.leases,
				Acquirer.this.handles.releaser());

		private @Nullable Acquisition acquisition;

		/**
		 * The handle that came of the request. The handle and the failure are written
		 * before the future is to be completed.
		 */
		private @Nullable EngineHandle handle;

		private @Nullable Throwable failure;

		private Pending(List<String> keys, HoldOptions options, Wait wait, Function<@Nullable LockHandle, T> result,
				UnaryOperator<Runnable> inContext) {
			super((task) -> Acquirer.this.workers.callback(once(task, inContext)), null);
			this.keys = keys;
			this.options = options;
			this.wait = wait;
			this.result = result;
			this.inContext = inContext;
		}

		private CompletableFuture<T> begin() {
			List<Hold> reentered = this.reentrancy.reenter(this.keys, this.options);
			if (reentered != null) {
				// A store that has the keys has been asked what the store offers.
				Failures.orUndo(this::checkSupport, () -> this.reentrancy.undo().accept(reentered));
				complete(this.result.apply(open(reentered)));
				Acquirer.this.requestsWaiting.decrement();
				return this;
			}
			AsyncDriver driver = new AsyncDriver(Acquirer.this.backend, Acquirer.this.tasks, this.wait, this);
			this.wait.beginObservation(Acquirer.this.settings.waitObserver(), this.options.request());
			try {
				// Others may complete the future. When the request completes the future,
				// the driver has ended.
				whenComplete((value, failure) -> driver.cancel());
				this.acquisition = RequestAcquisition.begin(Acquirer.this.acquisitions, this.reentrancy, this.keys,
						this.options, this.wait);
			}
			catch (Throwable ex) {
				this.wait.fail(ex);
				throw ex;
			}
			driver.start(this.acquisition);
			return this;
		}

		private EngineHandle open(List<Hold> holds) {
			return Acquirer.this.open(holds, this.keys, this.options, true, this.wait, this.reentrancy);
		}

		@Override
		public void checkSupport() {
			requireSupported(this.options.request(), this.wait);
		}

		@Override
		public void ended(@Nullable Throwable failure) {
			Acquirer.this.requestsWaiting.decrement();
			this.failure = (failure != null) ? Failures.explained(failure, this.keys.get(0)) : null;
			try {
				List<Hold> holds = Objects.requireNonNull(this.acquisition).holds();
				if (holds != null && failure == null) {
					this.handle = open(holds);
				}
				else if (holds != null) {
					this.reentrancy.undo().accept(holds);
				}
			}
			catch (Throwable ex) {
				this.failure = Failures.explained(ex, this.keys.get(0));
			}
			finally {
				if (this.handle == null) {
					Acquirer.this.lifecycle.end(this.wait);
				}
			}
			if (this.handle == null && isDone() && !this.wait.isObserved()) {
				return; // The request was cancelled, and nobody is to be told.
			}
			Runnable finish = once(this::finish, this.inContext);
			try {
				Acquirer.this.workers.callback(finish);
			}
			catch (Throwable noThread) {
				finish.run(); // A callback here is better than none.
			}
		}

		/**
		 * Completes the future. The observer hears first, so that the wait has ended for
		 * those whom the future completes.
		 */
		private void finish() {
			boolean taken = false;
			try {
				if (this.failure != null) {
					this.wait.fail(this.failure);
					completeExceptionally(this.failure);
				}
				else if (isDone()) {
					this.wait.fail(new CancellationException("The request was cancelled"));
				}
				else {
					this.wait.end(this.handle != null);
					publish(this.handle, this.options, this.wait);
					taken = complete(this.result.apply(this.handle));
				}
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

	}

}
