package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;

/**
 * A store that only notes what was released: Lincheck watches every step, so that a store
 * that does more would take most of its time.
 */
public final class ReleasedKeys implements LockBackend {

	private final Queue<String> keys = new ConcurrentLinkedQueue<>();

	/**
	 * The keys, in the order of their releases.
	 */
	public Queue<String> keys() {
		return this.keys;
	}

	@Override
	public boolean release(String key, String owner) {
		return this.keys.add(key);
	}

	@Override
	public AcquireResult acquire(Claim claim) {
		throw new UnsupportedOperationException();
	}

	@Override
	public List<Boolean> renew(List<Renewal> renewals) {
		throw new UnsupportedOperationException();
	}

	@Override
	public boolean leaveToExpire(String key, String owner, Duration rest) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Not the default, since the hash of a class differs where Lincheck does not watch.
	 */
	@Override
	public Object node(String key) {
		return "node";
	}

}
