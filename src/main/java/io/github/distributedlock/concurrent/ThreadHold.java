package io.github.distributedlock.concurrent;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import org.jspecify.annotations.Nullable;

/**
 * A lock that a thread has locked, and how often. Used by that thread alone.
 * <p>
 * Invariant: it does not close the handle before the lock was unlocked as often as it was
 * locked. Others may.
 */
final class ThreadHold {

	private final LockHandle handle;

	private int count = 1;

	ThreadHold(LockHandle handle) {
		this.handle = handle;
	}

	/**
	 * Fails unless the lock is held: what follows would run without it.
	 * @throws LockLostException if it was lost
	 * @throws IllegalStateException if its handle was closed
	 */
	void checkHeld() {
		this.handle.checkHeld();
	}

	/**
	 * Counts one more.
	 * @throws LockLostException if the lock was lost
	 * @throws IllegalStateException if its handle was closed
	 */
	void reenter() {
		checkHeld();
		this.count = Math.incrementExact(this.count);
	}

	/**
	 * Counts one less, and gives the lock back with the last.
	 * @throws IllegalMonitorStateException if it was not held until now; the cause is
	 * what {@link #checkHeld} throws
	 */
	void exit() {
		RuntimeException reason = whyNotHeld();
		this.count--;
		if (this.count == 0 && !this.handle.release() && reason == null) {
			reason = lostAtRelease();
		}
		if (reason != null) {
			IllegalMonitorStateException exception = new IllegalMonitorStateException(reason.getMessage());
			exception.initCause(reason);
			throw exception;
		}
	}

	boolean isOver() {
		return this.count == 0;
	}

	private @Nullable RuntimeException whyNotHeld() {
		try {
			checkHeld();
			return null;
		}
		catch (LockLostException | IllegalStateException ex) {
			return ex;
		}
	}

	private LockLostException lostAtRelease() {
		return new LockLostException(
				"Lock " + LockException.printable(this.handle.keys()) + " of " + this.handle.owner()
						+ " was lost: when it was released, it was no longer ours",
				null, this.handle.keys(), LockEvent.Lost.Reason.TAKEN);
	}

}
