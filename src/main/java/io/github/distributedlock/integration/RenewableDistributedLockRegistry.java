package io.github.distributedlock.integration;

import java.time.Duration;

import io.github.distributedlock.CurrentLock;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.concurrent.JdkLocks;

import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * Spring Integration's {@link RenewableLockRegistry} of {@link DistributedLock}s, which
 * it has since version 7.0. What its locks do is described at {@link JdkLocks}. One that
 * is locked with a time to live is not renewed, unless {@code renewLock} is called; one
 * that is locked without is renewed until it is unlocked. A lock that is re-entered keeps
 * its time to live. Safe for use by many threads.
 *
 * @since 1.0
 * @see DistributedLockRegistry
 */
public final class RenewableDistributedLockRegistry implements RenewableLockRegistry<DistributedLock> {

	private final io.github.distributedlock.DistributedLock distributedLock;

	private final JdkLocks locks;

	private final Duration timeToLive;

	/**
	 * Creates it.
	 * @param distributedLock what acquires and releases
	 * @param timeToLive for how long {@link #renewLock(Object)} renews, from 100
	 * milliseconds to 365 days
	 * @throws IllegalArgumentException if it is out of that range
	 */
	public RenewableDistributedLockRegistry(io.github.distributedlock.DistributedLock distributedLock,
			Duration timeToLive) {
		this.distributedLock = distributedLock;
		this.locks = new JdkLocks(distributedLock);
		this.timeToLive = timeToLive;
		LockRequest.of("timeToLive").leaseTime(timeToLive); // refuses what is no lease
	}

	/**
	 * A lock of a key. All that are obtained by equal keys are one lock: what a thread
	 * locks by one of them, it may unlock by another.
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
	 * shortens it.
	 * @param lockKey the key of a lock that the calling thread holds
	 * @throws IllegalMonitorStateException if the thread does not hold it
	 * @throws IllegalStateException if the thread has lost it
	 * @throws io.github.distributedlock.LockBackendException if the store failed
	 */
	@Override
	public void renewLock(Object lockKey) {
		renewLock(lockKey, this.timeToLive);
	}

	/**
	 * Makes the lease of a lock last at least a time from now. Never shortens it.
	 * @param lockKey the key of a lock that the calling thread holds
	 * @param ttl the time, from 100 milliseconds to 365 days
	 * @throws IllegalArgumentException if it is out of that range
	 * @throws IllegalMonitorStateException if the thread does not hold it
	 * @throws IllegalStateException if the thread has lost it
	 * @throws io.github.distributedlock.LockBackendException if the store failed
	 */
	@Override
	public void renewLock(Object lockKey, Duration ttl) {
		String key = DistributedLockRegistry.request(lockKey).keys().get(0);
		LockHandle handle = CurrentLock.find(key, this.distributedLock::owns)
			.orElseThrow(() -> new IllegalMonitorStateException(
					"Lock '" + LockException.printable(key) + "' is not held by this thread"));
		if (!handle.extend(ttl)) {
			throw new IllegalStateException("Lock '" + LockException.printable(key) + "' was lost");
		}
	}

}
