package io.github.distributedlock.reactive;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.LockHandle;
import org.jspecify.annotations.Nullable;

/**
 * Closes a handle, without blocking, when the last of those that need it is done: the
 * stream, the thread that calls the method and subscribes to its result, which a
 * cancellation by another thread does not stop, and the transaction that was there before.
 * <p>
 * Invariants: the count is the number of parties not yet done. It starts with the stream
 * and the thread, and grows only before the latter is done. The handle is set by that
 * thread, before it is done, if there is one at all.
 */
final class PendingClose {

	private final AtomicInteger parties = new AtomicInteger(2);

	private final CompletableFuture<@Nullable Void> closed = new CompletableFuture<>();

	private volatile @Nullable LockHandle handle;

	void of(LockHandle handle) {
		this.handle = handle;
	}

	/**
	 * What is closed, {@code null} while there is nothing to close.
	 */
	@Nullable LockHandle handle() {
		return this.handle;
	}

	/**
	 * One more party needs the lock.
	 */
	void join() {
		this.parties.incrementAndGet();
	}

	/**
	 * A party is done. Throws nothing.
	 * @return what completes when the lock was given back
	 */
	CompletableFuture<@Nullable Void> leave() {
		LockHandle held = (this.parties.decrementAndGet() == 0) ? this.handle : null;
		if (held != null) {
			try {
				held.closeAsync().whenComplete((done, ignored) -> this.closed.complete(null));
			}
			catch (RuntimeException | Error ex) {
				this.closed.complete(null);
			}
		}
		return this.closed;
	}

}
