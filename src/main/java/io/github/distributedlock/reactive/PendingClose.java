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
 * lock is given back as if it had never been held. What waits for the release goes on in
 * the {@link ParallelScheduler}, or at once.
 */
final class PendingClose {

	private final AtomicInteger parties = new AtomicInteger(2);

	private final CompletableFuture<@Nullable Void> closed = new CompletableFuture<>();

	private volatile @Nullable LockHandle handle;

	private volatile boolean used;

	private volatile boolean streamIsOver;

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
	 * One more party needs the lock.
	 */
	void join() {
		this.parties.incrementAndGet();
	}

	/**
	 * The stream is done, as {@link #leave()}.
	 */
	CompletableFuture<@Nullable Void> leaveStream() {
		this.streamIsOver = true;
		return leave();
	}

	/**
	 * Whether the stream is done. Then the release waits for nothing that goes on by
	 * itself, but at most for the thread to return.
	 */
	boolean streamIsOver() {
		return this.streamIsOver;
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
			if (!this.used) {
				UndoableHandle.undo(held);
			}
			else {
				CompletableFuture<?> closing = held.closeAsync();
				if (!closing.isDone()) {
					closing.whenComplete((done, ignored) -> ParallelScheduler.run(() -> this.closed.complete(null)));
					return;
				}
			}
		}
		catch (Throwable ex) {
			// It is for the engine to tell of.
		}
		this.closed.complete(null);
	}

}
