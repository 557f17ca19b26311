package io.github.distributedlock.integration;

import io.github.distributedlock.LockRequest;

/**
 * What keys of a registry stand for.
 */
final class RegistryKeys {

	private static final String NAME = "lock-registry";

	private RegistryKeys() {
	}

	/**
	 * The key of the lock that a registry is asked for.
	 * @throws IllegalArgumentException if it is no string
	 */
	static String key(Object lockKey) {
		if (lockKey instanceof String key) {
			return key;
		}
		throw new IllegalArgumentException("The key of a lock is a " + lockKey.getClass().getName()
				+ ", but its text may differ from JVM to JVM. Obtain the lock by a String");
	}

	/**
	 * A request for the lock.
	 * @throws IllegalArgumentException if the key is no string, or a blank one
	 */
	static LockRequest request(Object lockKey) {
		return LockRequest.of(key(lockKey)).name(NAME);
	}

}
