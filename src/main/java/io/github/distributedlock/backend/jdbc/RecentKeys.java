package io.github.distributedlock.backend.jdbc;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The keys that this store has used lately, as many as there is room for. Says which of
 * several statements will do for a key. A wrong guess costs a further statement, and
 * nothing else. Safe for use by many threads.
 */
final class RecentKeys {

	/**
	 * Room for keys, a power of two.
	 */
	private static final int ROOM = 4096;

	private static final int AWAITED = 1;

	/**
	 * The hash of the key that was used last in each place, and whether other JVMs waited
	 * for that key; 0 if there was none.
	 */
	private final AtomicIntegerArray places = new AtomicIntegerArray(ROOM);

	/**
	 * Returns whether the key has a row, probably.
	 */
	boolean contains(String key) {
		int hash = hash(key);
		return (this.places.get(hash & (ROOM - 1)) & ~AWAITED) == (hash & ~AWAITED);
	}

	/**
	 * Returns whether other JVMs wait for the key, probably.
	 */
	boolean isAwaited(String key) {
		int hash = hash(key);
		return this.places.get(hash & (ROOM - 1)) == (hash | AWAITED);
	}

	/**
	 * Takes note that a key has a row.
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
