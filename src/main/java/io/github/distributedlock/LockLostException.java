package io.github.distributedlock;

import java.util.List;

/**
 * A lock that was acquired is no longer held. Somebody else may have it now.
 */
public class LockLostException extends LockException {

	private final List<String> keys;

	private final LockEvent.Lost.Reason reason;

	/**
	 * Creates the exception for a lost lock.
	 * @param message what happened, with the key, the lease and the remedy
	 * @param keys the keys of the handle
	 * @param reason why the lock was lost
	 */
	public LockLostException(String message, List<String> keys, LockEvent.Lost.Reason reason) {
		super(message, null);
		this.keys = List.copyOf(keys);
		this.reason = reason;
	}

	/**
	 * The keys of the handle that was asked.
	 * @return the keys
	 */
	public List<String> keys() {
		return this.keys;
	}

	/**
	 * Why the lock was lost.
	 * @return the reason
	 */
	public LockEvent.Lost.Reason reason() {
		return this.reason;
	}

}
