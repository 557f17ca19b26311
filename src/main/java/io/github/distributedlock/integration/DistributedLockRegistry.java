package io.github.distributedlock.integration;

import java.util.concurrent.locks.Lock;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.concurrent.JdkLocks;

import org.springframework.integration.support.locks.LockRegistry;

/**
 * Spring Integration's {@link LockRegistry}, of its version 6.5 and later. What its locks
 * do is described at {@link JdkLocks}. Safe for use by many threads.
 *
 * @since 1.0
 * @see RenewableDistributedLockRegistry
 */
// Raw, since it has no type parameter before 7.0: so one class is for all versions.
@SuppressWarnings("rawtypes")
public final class DistributedLockRegistry implements LockRegistry {

	private static final String NAME = "lock-registry";

	private final JdkLocks locks;

	/**
	 * Creates it.
	 * @param distributedLock what acquires and releases
	 */
	public DistributedLockRegistry(DistributedLock distributedLock) {
		this.locks = new JdkLocks(distributedLock);
	}

	/**
	 * A lock of a key. All that are obtained by equal keys are one lock: what a thread
	 * locks by one of them, it may unlock by another.
	 * @param lockKey the key, a string
	 * @return the lock
	 * @throws IllegalArgumentException if the key is no string, or a blank one
	 */
	@Override
	public Lock obtain(Object lockKey) {
		return this.locks.lock(request(lockKey));
	}

	/**
	 * What a registry asks for when its lock of a key is locked.
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
