package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.Set;

import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.redis.internal.Link;

/**
 * The steps of a server as a backend, one command after another by one link.
 *
 * @param steps the steps
 * @param link the link
 */
record StepsBackend(Steps steps, Link link) implements LockBackend {

	@Override
	public AcquireResult acquire(Claim claim) {
		return this.steps.acquire(this.link, claim, false);
	}

	@Override
	public AcquireResult acquireOrRegister(Claim claim) {
		return this.steps.acquire(this.link, claim, true);
	}

	@Override
	public HandOverResult pass(String owner, Claim next, boolean yields) {
		return this.steps.pass(this.link, owner, next, yields, true);
	}

	@Override
	public boolean release(String key, String owner) {
		return this.steps.release(this.link, key, owner);
	}

	@Override
	public List<Boolean> releaseAll(List<String> keys, String owner) {
		return this.steps.releaseAll(this.link, keys, owner);
	}

	@Override
	public List<Boolean> renew(List<Renewal> renewals) {
		return this.steps.renew(this.link, renewals);
	}

	@Override
	public boolean leaveToExpire(String key, String owner, Duration rest) {
		return this.steps.leaveToExpire(this.link, key, owner, rest.toMillis());
	}

	@Override
	public void withdraw(String key, Waiter waiter, Set<String> owners) {
		this.steps.withdraw(this.link, key, waiter, owners);
	}

	@Override
	public void forget(Claim claim) {
		this.steps.forget(this.link, claim);
	}

	@Override
	public boolean downgrade(String key, String owner) {
		return this.steps.downgrade(this.link, key, owner);
	}

}
