package io.github.distributedlock.integration;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.concurrent.JdkLocks;

import org.springframework.integration.support.locks.DistributedLock;

/**
 * A lock that can also be taken with a lease of its own, which is not renewed. Without
 * such a lease the lock follows its request. Safe for use by many threads.
 */
final class LeasedLock implements DistributedLock {

	private final JdkLocks locks;

	private final LockRequest request;

	private final Lock renewed;

	LeasedLock(JdkLocks locks, LockRequest request) {
		this.locks = locks;
		this.request = request;
		this.renewed = locks.lock(request);
	}

	@Override
	public void lock(Duration ttl) {
		leased(ttl).lock();
	}

	@Override
	public boolean tryLock(Duration waitTime, Duration ttl) throws InterruptedException {
		return leased(ttl).tryLock(TimeUnit.NANOSECONDS.convert(waitTime), TimeUnit.NANOSECONDS);
	}

	/**
	 * Returns a lock with a fixed lease, which is the same lock to the thread that holds
	 * this one.
	 */
	private Lock leased(Duration ttl) {
		return this.locks.lock(this.request.leaseTime(ttl));
	}

	@Override
	public void lock() {
		this.renewed.lock();
	}

	@Override
	public void lockInterruptibly() throws InterruptedException {
		this.renewed.lockInterruptibly();
	}

	@Override
	public boolean tryLock() {
		return this.renewed.tryLock();
	}

	@Override
	public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
		return this.renewed.tryLock(time, unit);
	}

	@Override
	public void unlock() {
		this.renewed.unlock();
	}

	@Override
	public Condition newCondition() {
		return this.renewed.newCondition();
	}

	@Override
	public String toString() {
		return this.renewed.toString();
	}

}
