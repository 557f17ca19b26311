package io.github.distributedlock.engine.lease;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.github.distributedlock.backend.Attempt;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.WakeListener;

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
	public Attempt acquire(Claim claim) {
		throw new UnsupportedOperationException();
	}

	@Override
	public Attempt acquireOrRegister(Claim claim) {
		throw new UnsupportedOperationException();
	}

	@Override
	public void withdraw(String key, String instance) {
		throw new UnsupportedOperationException();
	}

	@Override
	public List<Boolean> renew(List<Claim> claims) {
		throw new UnsupportedOperationException();
	}

	@Override
	public boolean park(String key, String owner, Duration rest) {
		throw new UnsupportedOperationException();
	}

	@Override
	public Listening listen(String instance, WakeListener listener) {
		throw new UnsupportedOperationException();
	}

	/**
	 * Not the default, since the hash of a class differs where Lincheck does not watch.
	 */
	@Override
	public Object node(String key) {
		return "node";
	}

	@Override
	public void close() {
	}

}
