package io.github.distributedlock;

/**
 * A thread that holds a lock as {@link LockMode#SHARED} asked for it as
 * {@link LockMode#EXCLUSIVE}: it would wait for itself. Nothing was sent for the request.
 */
public class LockUpgradeException extends LockException {

	/**
	 * Creates the exception for a request that cannot be served.
	 * @param message the key, and what to request instead
	 */
	public LockUpgradeException(String message) {
		super(message, null);
	}

}
