package io.github.distributedlock;

/**
 * A thread that holds a lock as {@link LockMode#SHARED} asked for it as
 * {@link LockMode#EXCLUSIVE}: it would wait for itself. Nothing was sent for the request.
 */
public class LockUpgradeException extends LockException {

	/**
	 * Creates the exception for a request that cannot be served.
	 * @param problem what was requested, with the key
	 * @param remedy what to request instead
	 */
	public LockUpgradeException(String problem, String remedy) {
		super(problem, remedy, null);
	}

}
