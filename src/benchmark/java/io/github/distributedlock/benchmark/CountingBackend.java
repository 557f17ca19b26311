package io.github.distributedlock.benchmark;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.Attempt;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.Passing;
import io.github.distributedlock.backend.WakeListener;

/**
 * Counts how often the store is asked for a lock that this JVM does not have. To pass on
 * what it has is no attempt.
 */
final class CountingBackend implements LockBackend {

	private final LockBackend backend;

	private final LongAdder attempts = new LongAdder();

	CountingBackend(LockBackend backend) {
		this.backend = backend;
	}

	long attempts() {
		return this.attempts.sum();
	}

	@Override
	public void require(String key, LockMode mode, boolean fair) {
		this.backend.require(key, mode, fair);
	}

	@Override
	public Attempt acquire(Claim claim) {
		this.attempts.increment();
		return this.backend.acquire(claim);
	}

	@Override
	public Attempt acquireOrRegister(Claim claim) {
		this.attempts.increment();
		return this.backend.acquireOrRegister(claim);
	}

	@Override
	public Passing pass(String owner, Claim next, boolean yields) {
		return this.backend.pass(owner, next, yields);
	}

	@Override
	public void withdraw(String key, String waiter) {
		this.backend.withdraw(key, waiter);
	}

	@Override
	public List<Boolean> renew(List<Claim> claims) {
		return this.backend.renew(claims);
	}

	@Override
	public boolean release(String key, String owner) {
		return this.backend.release(key, owner);
	}

	@Override
	public boolean park(String key, String owner, Duration rest) {
		return this.backend.park(key, owner, rest);
	}

	@Override
	public Listening listen(String instance, WakeListener listener) {
		return this.backend.listen(instance, listener);
	}

	@Override
	public Object node(String key) {
		return this.backend.node(key);
	}

	@Override
	public void close() {
		this.backend.close();
	}

}
