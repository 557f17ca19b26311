package io.github.distributedlock.aop;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.LockHandle;

/**
 * Closes a handle when the last of those that need it is done: the method itself, the
 * transaction it runs in, the stage it returned.
 * <p>
 * Invariant: the count is the number of parties not yet done; it starts with the method,
 * only grows while the method runs, and the party that takes it to zero closes.
 */
final class PendingRelease {

	private final LockHandle handle;

	private final AtomicInteger parties = new AtomicInteger(1);

	PendingRelease(LockHandle handle) {
		this.handle = handle;
	}

	LockHandle handle() {
		return this.handle;
	}

	/**
	 * One more party needs the lock.
	 */
	void join() {
		this.parties.incrementAndGet();
	}

	/**
	 * A party is done.
	 */
	void done() {
		if (this.parties.decrementAndGet() == 0) {
			this.handle.close();
		}
	}

	/**
	 * A party is done on a thread that is not to be blocked. Throws nothing.
	 * @return what completes when the lock was given back, if it was the last party
	 */
	CompletableFuture<Void> doneAsync() {
		if (this.parties.decrementAndGet() > 0) {
			return CompletableFuture.completedFuture(null);
		}
		try {
			return Objects.requireNonNull(this.handle.closeAsync(), "closeAsync of a mock");
		}
		catch (Throwable ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * The last party on the calling thread is done; those that are left are elsewhere,
	 * and the thread must not re-enter their lock.
	 */
	void doneHere() {
		CurrentLock.unbind(this.handle);
		done();
	}

}
