package io.github.distributedlock.integration;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.concurrent.JdkLocks;

import org.springframework.integration.support.locks.DistributedLock;

/**
 * Adds locks with a lease of their own, which is not renewed, to that of a request. Safe
 * for use by many threads.
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
	 * The same lock to the thread that holds it.
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
