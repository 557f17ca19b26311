package io.github.distributedlock.integration;

import java.time.Duration;

import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.concurrent.JdkLocks;
import io.github.distributedlock.internal.Binding;

import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * A {@link RenewableLockRegistry} of {@link DistributedLock}s, for Spring Integration 7.0
 * and later. {@link JdkLocks} describes the behaviour of the registry's locks. A lock
 * that is locked with a time to live is not renewed, unless {@code renewLock} is called;
 * a lock that is locked without a time to live is renewed until the lock is unlocked. A
 * lock that is re-entered keeps its time to live. Safe for use by many threads.
 *
 * @since 1.0
 * @see DistributedLockRegistry
 */
public final class RenewableDistributedLockRegistry implements RenewableLockRegistry<DistributedLock> {

	private final io.github.distributedlock.DistributedLock distributedLock;

	private final JdkLocks locks;

	private final Duration timeToLive;

	/**
	 * Creates the registry.
	 * @param distributedLock acquires and releases the locks
	 * @param timeToLive for how long {@link #renewLock(Object)} renews, from 100
	 * milliseconds to 365 days
	 * @throws IllegalArgumentException if the time to live is out of that range
	 */
	public RenewableDistributedLockRegistry(io.github.distributedlock.DistributedLock distributedLock,
			Duration timeToLive) {
		this.distributedLock = distributedLock;
		this.locks = new JdkLocks(distributedLock);
		this.timeToLive = timeToLive;
		LockRequest.of("timeToLive").leaseTime(timeToLive); // refuses a time to live that
															// is no lease
	}

	/**
	 * Returns the lock of a key. All locks that are obtained by equal keys are one lock:
	 * a thread that has locked one of them may unlock another.
	 * @param lockKey the key, a string
	 * @return the lock
	 * @throws IllegalArgumentException if the key is no string, or a blank one
	 */
	@Override
	public DistributedLock obtain(Object lockKey) {
		return new LeasedLock(this.locks, DistributedLockRegistry.request(lockKey));
	}

	/**
	 * Makes the lease of a lock last at least the registry's time to live from now. Never
	 * shortens the lease.
	 * @param lockKey the key of a lock that the calling thread holds
	 * @throws IllegalMonitorStateException if the thread does not hold the lock
	 * @throws IllegalStateException if the thread has lost the lock
	 * @throws io.github.distributedlock.LockBackendException if the store failed
	 */
	@Override
	public void renewLock(Object lockKey) {
		renewLock(lockKey, this.timeToLive);
	}

	/**
	 * Makes the lease of a lock last at least a given time from now. Never shortens the
	 * lease.
	 * @param lockKey the key of a lock that the calling thread holds
	 * @param ttl the time, from 100 milliseconds to 365 days
	 * @throws IllegalArgumentException if the time is out of that range
	 * @throws IllegalMonitorStateException if the thread does not hold the lock
	 * @throws IllegalStateException if the thread has lost the lock
	 * @throws io.github.distributedlock.LockBackendException if the store failed
	 */
	@Override
	public void renewLock(Object lockKey, Duration ttl) {
		String key = DistributedLockRegistry.request(lockKey).keys().get(0);
		LockHandle handle = Binding.find(key, this.distributedLock::owns)
			.orElseThrow(() -> new IllegalMonitorStateException(
					"Lock '" + LockException.printable(key) + "' is not held by this thread"));
		if (!handle.extend(ttl)) {
			throw new IllegalStateException("Lock '" + LockException.printable(key) + "' was lost");
		}
	}

}
