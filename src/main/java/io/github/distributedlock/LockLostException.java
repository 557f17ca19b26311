package io.github.distributedlock;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * An acquired lock is no longer held. Another owner may have the lock now.
 *
 * @since 1.0
 */
public class LockLostException extends LockException {

	private final LockEvent.Lost.Reason reason;

	/**
	 * Creates the exception for a lost lock.
	 * @param problem what happened, with the key and the lease
	 * @param remedy how to avoid the loss, {@code null} if there is no remedy
	 * @param keys the keys of the handle
	 * @param reason why the lock was lost
	 */
	public LockLostException(String problem, @Nullable String remedy, List<String> keys, LockEvent.Lost.Reason reason) {
		super(problem, remedy, keys, null);
		this.reason = reason;
	}

	/**
	 * Returns the reason of the loss.
	 * @return the reason
	 */
	public LockEvent.Lost.Reason reason() {
		return this.reason;
	}

}
