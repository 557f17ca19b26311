package io.github.distributedlock.benchmark;

import java.util.concurrent.atomic.LongAdder;

import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.ForwardingLockBackend;
import io.github.distributedlock.backend.LockBackend;

/**
 * Counts how often the store is asked for a lock that this JVM does not have. Passing on
 * a lock is no attempt.
 */
final class CountingBackend extends ForwardingLockBackend {

	private final LongAdder attempts = new LongAdder();

	CountingBackend(LockBackend backend) {
		super(backend);
	}

	@Override
	public AcquireResult acquire(Claim claim) {
		this.attempts.increment();
		return super.acquire(claim);
	}

	@Override
	public AcquireResult acquireOrRegister(Claim claim) {
		this.attempts.increment();
		return super.acquireOrRegister(claim);
	}

	long attempts() {
		return this.attempts.sum();
	}

}
