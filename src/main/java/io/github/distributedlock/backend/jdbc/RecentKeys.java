package io.github.distributedlock.backend.jdbc;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The keys that this store has used lately, as many as there is room for. The store
 * chooses among several statements for a key by this memory. A wrong guess costs a
 * further statement, and nothing else. Safe for use by many threads.
 */
final class RecentKeys {

	/**
	 * The number of places for keys, a power of two.
	 */
	private static final int ROOM = 4096;

	private static final int AWAITED = 1;

	/**
	 * For each place, the hash of the last key, with a bit that says whether other JVMs
	 * waited for that key; 0 if no key has used the place.
	 */
	private final AtomicIntegerArray places = new AtomicIntegerArray(ROOM);

	/**
	 * Returns whether the key probably has a row.
	 */
	boolean contains(String key) {
		int hash = hash(key);
		return (this.places.get(hash & (ROOM - 1)) & ~AWAITED) == (hash & ~AWAITED);
	}

	/**
	 * Returns whether other JVMs probably wait for the key.
	 */
	boolean isAwaited(String key) {
		int hash = hash(key);
		return this.places.get(hash & (ROOM - 1)) == (hash | AWAITED);
	}

	/**
	 * Records that a key has a row.
	 * @param awaited whether other JVMs wait for the key
	 */
	void add(String key, boolean awaited) {
		int hash = hash(key);
		int place = awaited ? (hash | AWAITED) : (hash & ~AWAITED);
		if (this.places.get(hash & (ROOM - 1)) != place) {
			this.places.set(hash & (ROOM - 1), place);
		}
	}

	private static int hash(String key) {
		int hash = key.hashCode() * 0x9E3779B9; // Spreads the hashes of like keys.
		return (hash ^ (hash >>> 16)) | 1 << 31;
	}

}
