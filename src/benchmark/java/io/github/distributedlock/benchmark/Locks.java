package io.github.distributedlock.benchmark;

import java.util.OptionalLong;

/**
 * One way to lock, in one JVM. Safe for use by many threads.
 */
interface Locks extends AutoCloseable {

	/**
	 * The lock of a key, for one thread.
	 * @param key the key
	 * @return the lock
	 */
	Mutex mutex(String key);

	/**
	 * One of several permits for a key, for one thread.
	 * @param key the key
	 * @param permits how many there are
	 * @return the permit
	 * @throws UnsupportedOperationException if the contestant has no permits
	 */
	default Mutex permit(String key, int permits) {
		throw new UnsupportedOperationException(getClass().getSimpleName() + " has no permits");
	}

	/**
	 * How often the server was asked for a lock so far, where that can be counted in
	 * here.
	 * @return the number
	 */
	default OptionalLong attempts() {
		return OptionalLong.empty();
	}

	@Override
	void close();

	/**
	 * A lock in the hands of one thread.
	 */
	interface Mutex {

		/**
		 * Waits for the lock without a limit of time.
		 */
		void lock();

		void unlock();

	}

}
