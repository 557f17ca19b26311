package io.github.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockAdmin;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.internal.Binding;

/**
 * The lock that {@code distributed-lock.enabled=false} puts in the place of the engine.
 * Grants every request at once, without any I/O, and excludes no other request. A handle
 * is held until closed, so that code which asks for its {@linkplain LockHandle#current()
 * current lock} goes on as before.
 * <p>
 * Fenced requests are refused. A made-up token could be greater than all tokens that the
 * store will ever give out, and would lock the guarded data against real holders.
 */
final class SwitchedOffLock implements DistributedLock, LockAdmin {

	/**
	 * The longest lease that a request may ask for.
	 */
	private static final Duration FOREVER = Duration.ofDays(365);

	@Override
	public LockHandle acquire(LockRequest request) {
		request.requireValid();
		if (request.fenced()) {
			throw LockBackendException
				.of("Lock " + LockException.printable(request.keys())
						+ " was requested as fenced, but locks are switched off"
						+ " (distributed-lock.enabled=false), and only a store can give a fencing token")
				.remedy("switch the locks on again, or do without the method until then")
				.withoutEffect(true)
				.build();
		}
		Handle handle = new Handle(request.keys(), new AtomicBoolean());
		if (!request.detached()) {
			Binding.bind(handle);
		}
		return handle;
	}

	@Override
	public Optional<LockHandle> tryAcquire(LockRequest request) {
		return Optional.of(acquire(request));
	}

	@Override
	public CompletableFuture<LockHandle> acquireAsync(LockRequest request) {
		try {
			return CompletableFuture.completedFuture(acquire(request.detached(true)));
		}
		catch (LockBackendException | IllegalArgumentException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	@Override
	public CompletableFuture<Optional<LockHandle>> tryAcquireAsync(LockRequest request) {
		return acquireAsync(request).thenApply(Optional::of);
	}

	@Override
	public LockStatus inspect(String key) {
		return LockStatus.of(key, List.of(), List.of());
	}

	@Override
	public boolean owns(LockHandle handle) {
		return handle instanceof Handle;
	}

	/** Without locks no owner has a key. */
	@Override
	public boolean forceRelease(String key, String owner) {
		return false;
	}

	/**
	 * The handle of a request. Unless detached, the handle is current on the thread that
	 * made the request, until closed.
	 */
	private record Handle(List<String> keys, AtomicBoolean closed) implements LockHandle {

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
			return this; // The lock is never lost.
		}

		@Override
		public void close() {
			if (this.closed.compareAndSet(false, true)) {
				Binding.unbind(this);
			}
		}

		@Override
		public String toString() {
			return "LockHandle[keys=" + LockException.printable(this.keys) + ", switched off]";
		}

	}

}
