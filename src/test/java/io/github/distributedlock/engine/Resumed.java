package io.github.distributedlock.engine;

import java.util.concurrent.atomic.AtomicBoolean;

import io.github.distributedlock.backend.LockBackend;

/**
 * An engine as several JVMs have it that were resumed from one snapshot: with the
 * identity of the snapshot, until the engine takes another one.
 */
public final class Resumed {

	private Resumed() {
	}

	/**
	 * Begins an engine.
	 * @param backend the store of the engine, not shared with the others
	 * @return the builder of an engine whose first identity is that of all others
	 */
	public static LockEngine.Builder engine(LockBackend backend) {
		LockEngine.Builder settings = LockEngine.builder(backend);
		AtomicBoolean first = new AtomicBoolean(true);
		settings.random = () -> first.getAndSet(false) ? "snapshot" : Instance.random();
		return settings;
	}

}
