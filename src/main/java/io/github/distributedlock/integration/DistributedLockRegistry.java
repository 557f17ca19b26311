package io.github.distributedlock.integration;

import java.util.concurrent.locks.Lock;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.concurrent.JdkLocks;

import org.springframework.integration.support.locks.LockRegistry;

/**
 * Spring Integration's {@link LockRegistry}, of its version 6.5 and later. What its locks
 * do is told at {@link JdkLocks}. Safe for use by many threads.
 *
 * @since 1.0
 * @see RenewableDistributedLockRegistry
 */
// Raw, since it has no type parameter before 7.0: so one class is for all versions.
@SuppressWarnings("rawtypes")
public final class DistributedLockRegistry implements LockRegistry {

	private final RegistryLocks<Lock> locks;

	/**
	 * Creates it.
	 * @param distributedLock what acquires and releases
	 */
	public DistributedLockRegistry(DistributedLock distributedLock) {
		this.locks = new RegistryLocks<>(new JdkLocks(distributedLock)::lock);
	}

	/**
	 * The lock of a key, the same for equal keys as long as anybody refers to it.
	 * @param lockKey the key, a string
	 * @return the lock
	 * @throws IllegalArgumentException if the key is no string, or a blank one
	 */
	@Override
	public Lock obtain(Object lockKey) {
		return this.locks.obtain(lockKey);
	}

}
