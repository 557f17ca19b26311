package io.github.distributedlock;

import java.util.List;

/**
 * A thread requested a lock that the thread holds already, in a way that would make the
 * thread wait for itself: as {@link LockMode#EXCLUSIVE} while holding the lock as
 * {@link LockMode#SHARED}, or, while holding the lock with several
 * {@linkplain LockRequest#permits(int) permits}, with fewer permits or as shared. Nothing
 * was sent to the store for the request.
 *
 * @since 1.0
 */
public class LockUpgradeException extends LockException {

	/**
	 * Creates the exception for a request that cannot be served.
	 * @param problem what the thread requested, with the key
	 * @param remedy what to request instead
	 * @param keys the keys that the thread holds already
	 */
	public LockUpgradeException(String problem, String remedy, List<String> keys) {
		super(problem, remedy, keys, null);
	}

}
