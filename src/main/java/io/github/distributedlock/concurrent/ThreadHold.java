package io.github.distributedlock.concurrent;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import org.jspecify.annotations.Nullable;

/**
 * A lock that a thread has locked, and how often. Used by that thread alone.
 * <p>
 * Invariant: the handle is open until the lock was unlocked as often as it was locked.
 */
final class ThreadHold {

	private final LockHandle handle;

	private int count = 1;

	ThreadHold(LockHandle handle) {
		this.handle = handle;
	}

	/**
	 * Counts one more.
	 * @throws LockLostException if the lock was lost: what follows would run without it
	 */
	void reenter() {
		this.handle.checkHeld();
		this.count = Math.incrementExact(this.count);
	}

	/**
	 * Counts one less, and gives the lock back with the last.
	 * @return why it is not held any more, {@code null} if it was until now
	 */
	@Nullable LockLostException exit() {
		LockLostException loss = loss();
		this.count--;
		boolean held = this.count > 0 || this.handle.release();
		return (loss != null || held) ? loss : lostAtRelease();
	}

	boolean isOver() {
		return this.count == 0;
	}

	private @Nullable LockLostException loss() {
		try {
			if (!this.handle.isClosed()) {
				this.handle.checkHeld();
			}
			return null;
		}
		catch (LockLostException ex) {
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
