package io.github.distributedlock.reactive;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.UndoableHandle;
import org.jspecify.annotations.Nullable;

/**
 * Closes a handle, without blocking, when the last of those that need it is done: the
 * stream, the thread that calls the method and subscribes to its result, which a
 * cancellation by another thread does not stop, and the transaction that was there
 * before.
 * <p>
 * Invariants: the count is the number of parties not yet done. It starts with the stream
 * and the thread, and grows only before the latter is done. The handle is set by that
 * thread, before it is done, if there is one at all. If the method was never called, the
 * lock is given back as if it had never been held.
 */
final class PendingClose {

	private final AtomicInteger parties = new AtomicInteger(2);

	private final CompletableFuture<@Nullable Void> closed = new CompletableFuture<>();

	private volatile @Nullable LockHandle handle;

	private volatile boolean used;

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
	 * The method is about to be called.
	 */
	void use() {
		this.used = true;
	}

	/**
	 * Whether all parties are done.
	 */
	boolean isOver() {
		return this.parties.get() == 0;
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
			close(held);
		}
		return this.closed;
	}

	private void close(LockHandle held) {
		try {
			if (this.used) {
				held.closeAsync().whenComplete((done, ignored) -> this.closed.complete(null));
				return;
			}
			UndoableHandle.undo(held);
		}
		catch (RuntimeException | Error ex) {
			// It is for the engine to tell of.
		}
		this.closed.complete(null);
	}

}
