package io.github.distributedlock.engine.queue;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Which keys this JVM had to wait for when it acquired them last, so that it will have to
 * again: a request for one asks for a place at once, instead of asking twice. Remembers
 * hashes alone, as many as there is room for: a mistake costs one command at most. Safe
 * for use by many threads.
 */
public final class Contention {

	private static final int ROOM = 1024;

	private final AtomicIntegerArray hashes = new AtomicIntegerArray(ROOM);

	boolean isExpected(String key) {
		int hash = hash(key);
		return this.hashes.get(place(hash)) == hash;
	}

	/**
	 * A key was acquired.
	 * @param waited whether it had to be waited for
	 */
	void acquired(String key, boolean waited) {
		int hash = hash(key);
		if ((this.hashes.get(place(hash)) == hash) != waited) {
			this.hashes.set(place(hash), waited ? hash : 0);
		}
	}

	// Not 0, which is none.
	private static int hash(String key) {
		return key.hashCode() | 1;
	}

	private static int place(int hash) {
		return Math.floorMod(hash ^ (hash >>> 16), ROOM);
	}

}
