package io.github.distributedlock;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A lock that was acquired is no longer held. Somebody else may have it now.
 *
 * @since 1.0
 */
public class LockLostException extends LockException {

	private final LockEvent.Lost.Reason reason;

	/**
	 * Creates the exception for a lost lock.
	 * @param problem what happened, with the key and the lease
	 * @param remedy how to avoid it, {@code null} if there is nothing to do
	 * @param keys the keys of the handle
	 * @param reason why the lock was lost
	 */
	public LockLostException(String problem, @Nullable String remedy, List<String> keys, LockEvent.Lost.Reason reason) {
		super(problem, remedy, keys, null);
		this.reason = reason;
	}

	/**
	 * Why the lock was lost.
	 * @return the reason
	 */
	public LockEvent.Lost.Reason reason() {
		return this.reason;
	}

}
