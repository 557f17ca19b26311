package io.github.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import org.jspecify.annotations.Nullable;

/**
 * What {@code distributed-lock.enabled=false} puts in the place of the engine: it grants
 * every request at once, without any I/O, and excludes no other request. Its handles are
 * held until they are closed, so that code which asks its
 * {@linkplain LockHandle#current() current lock} goes on as before.
 * <p>
 * It refuses fenced requests. A token that it made up could be greater than all that the
 * store will ever give out, and would lock the guarded data against real holders.
 */
final class SwitchedOffLock implements DistributedLock {

	/**
	 * The longest that any lease may be asked for.
	 */
	private static final Duration FOREVER = Duration.ofDays(365);

	@Override
	public LockHandle acquire(LockRequest request) {
		Objects.requireNonNull(request, "request");
		if (request.fenced()) {
			throw LockBackendException
				.of("Lock " + LockException.printable(request.keys())
						+ " was requested as fenced, but locks are switched off"
						+ " (distributed-lock.enabled=false), and only a store can give a fencing token")
				.remedy("switch the locks on again, or do without the method until then")
				.notCarriedOut(true)
				.build();
		}
		return new Handle(request);
	}

	@Override
	public Optional<LockHandle> tryAcquire(LockRequest request) {
		return Optional.of(acquire(request));
	}

	@Override
	public CompletableFuture<LockHandle> acquireAsync(LockRequest request) {
		return granted(request, (handle) -> handle);
	}

	@Override
	public CompletableFuture<Optional<LockHandle>> tryAcquireAsync(LockRequest request) {
		return granted(request, Optional::of);
	}

	private <T> CompletableFuture<T> granted(LockRequest request, Function<LockHandle, T> result) {
		Objects.requireNonNull(request, "request");
		CompletableFuture<T> granted = new Granted<>();
		try {
			granted.complete(result.apply(acquire(request.detached(true))));
		}
		catch (LockBackendException ex) {
			granted.completeExceptionally(ex);
		}
		return granted;
	}

	@Override
	public LockStatus inspect(String key) {
		return LockStatus.of(key, List.of(), List.of());
	}

	/**
	 * Runs code that may block on a thread of its own, as the engine does.
	 */
	private static final class Granted<T> extends CompletableFuture<T> {

		@Override
		public Executor defaultExecutor() {
			return (task) -> {
				Thread thread = new Thread(task, "lock-callback");
				thread.setDaemon(true);
				thread.start();
			};
		}

		@Override
		public <U> CompletableFuture<U> newIncompleteFuture() {
			return new Granted<>();
		}

	}

	/**
	 * Current on the thread that asked for it, unless detached, until it is closed.
	 */
	private static final class Handle implements LockHandle {

		private final List<String> keys;

		private final AtomicBoolean closed = new AtomicBoolean();

		private final @Nullable CurrentLock binding;

		private Handle(LockRequest request) {
			this.keys = request.keys();
			this.binding = request.detached() ? null : CurrentLock.bind(this);
		}

		@Override
		public List<String> keys() {
			return this.keys;
		}

		@Override
		public String owner() {
			return "nobody (distributed-lock.enabled=false)";
		}

		@Override
		public OptionalLong fencingToken() {
			return OptionalLong.empty();
		}

		@Override
		public boolean isHeld() {
			return !this.closed.get();
		}

		@Override
		public boolean isClosed() {
			return this.closed.get();
		}

		@Override
		public Duration remaining() {
			return isHeld() ? FOREVER : Duration.ZERO;
		}

		@Override
		public void checkHeld() {
			if (this.closed.get()) {
				throw new IllegalStateException(
						"The handle of lock " + LockException.printable(this.keys) + " is closed");
			}
		}

		@Override
		public boolean extend(Duration lease) {
			checkHeld();
			return true;
		}

		@Override
		public LockHandle onLost(Runnable action) {
			return this; // It is never lost.
		}

		@Override
		public void close() {
			if (this.closed.compareAndSet(false, true) && this.binding != null) {
				this.binding.close();
			}
		}

		@Override
		public String toString() {
			return "LockHandle[keys=" + LockException.printable(this.keys) + ", switched off]";
		}

	}

}
