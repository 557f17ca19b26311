package io.github.distributedlock;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A lock that was acquired is no longer held. Somebody else may have it now.
 */
public class LockLostException extends LockException {

	private final List<String> keys;

	private final LockEvent.Lost.Reason reason;

	/**
	 * Creates the exception for a lost lock.
	 * @param problem what happened, with the key and the lease
	 * @param remedy how to avoid it, {@code null} if there is nothing to do
	 * @param keys the keys of the handle
	 * @param reason why the lock was lost
	 */
	public LockLostException(String problem, @Nullable String remedy, List<String> keys, LockEvent.Lost.Reason reason) {
		super(problem, remedy, null);
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
