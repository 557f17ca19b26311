package io.github.distributedlock;

import java.util.List;

/**
 * A thread that holds a lock as {@link LockMode#SHARED} asked for it as
 * {@link LockMode#EXCLUSIVE}, or one that holds it with several
 * {@linkplain LockRequest#permits(int) permits} asked for it with fewer, or as shared: it
 * would wait for itself. Nothing was sent for the request.
 *
 * @since 1.0
 */
public class LockUpgradeException extends LockException {

	/**
	 * Creates the exception for a request that cannot be served.
	 * @param problem what was requested, with the key
	 * @param remedy what to request instead
	 * @param keys the keys that are shared already
	 */
	public LockUpgradeException(String problem, String remedy, List<String> keys) {
		super(problem, remedy, keys, null);
	}

}
