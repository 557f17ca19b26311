package io.github.distributedlock.integration;

import java.util.concurrent.locks.Lock;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.concurrent.JdkLocks;

import org.springframework.integration.support.locks.LockRegistry;

/**
 * A {@link LockRegistry} for Spring Integration 6.5 and later. {@link JdkLocks} describes
 * the behaviour of the registry's locks. Safe for use by many threads.
 *
 * @since 1.0
 * @see RenewableDistributedLockRegistry
 */
// A raw type, since LockRegistry has no type parameter before 7.0: so one class is for
// all versions.
@SuppressWarnings("rawtypes")
public final class DistributedLockRegistry implements LockRegistry {

	private static final String NAME = "lock-registry";

	private final JdkLocks locks;

	/**
	 * Creates the registry.
	 * @param distributedLock acquires and releases the locks
	 */
	public DistributedLockRegistry(DistributedLock distributedLock) {
		this.locks = new JdkLocks(distributedLock);
	}

	/**
	 * Returns the lock of a key. All locks that are obtained by equal keys are one lock:
	 * a thread that has locked one of them may unlock another.
	 * @param lockKey the key, a string
	 * @return the lock
	 * @throws IllegalArgumentException if the key is no string, or a blank one
	 */
	@Override
	public Lock obtain(Object lockKey) {
		return this.locks.lock(request(lockKey));
	}

	/**
	 * Returns the request that a registry makes when the lock of a key is locked.
	 * @throws IllegalArgumentException if the key is no string, or a blank one
	 */
	static LockRequest request(Object lockKey) {
		if (lockKey instanceof String key) {
			return LockRequest.of(key).name(NAME);
		}
		throw new IllegalArgumentException("The key of a lock is a " + lockKey.getClass().getName()
				+ ", but its text may differ from JVM to JVM. Obtain the lock by a String");
	}

}
