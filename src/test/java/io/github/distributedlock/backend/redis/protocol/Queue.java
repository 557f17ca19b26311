package io.github.distributedlock.backend.redis.protocol;

import java.util.List;

/**
 * The requests of one JVM: {@code KeyQueue}.
 *
 * @param current the thread that has the turn, or {@link #WITHDRAWAL} or
 * {@link #WITHDRAWN}
 * @param waiting the threads behind it
 * @param registered whether the store may know this JVM as a waiter
 * @param woken whether there is a wake-up that nobody has consumed
 */
record Queue(int current, List<Integer> waiting, boolean registered, boolean woken) {

	/**
	 * In the place of a thread: the store is to be told that nobody waits.
	 */
	static final int WITHDRAWAL = -1;

	/**
	 * In the place of a thread: the answer to a withdrawal is under way.
	 */
	static final int WITHDRAWN = -2;

	static Queue of(int current) {
		return new Queue(current, List.of(), false, false);
	}

	Queue current(int current) {
		return new Queue(current, this.waiting, this.registered, this.woken);
	}

	Queue waiting(List<Integer> waiting) {
		return new Queue(this.current, waiting, this.registered, this.woken);
	}

	Queue registering() {
		return new Queue(this.current, this.waiting, true, this.woken);
	}

	Queue woken(boolean woken) {
		return new Queue(this.current, this.waiting, this.registered, woken);
	}

	/**
	 * The store has forgotten the registration.
	 */
	Queue settled() {
		return new Queue(this.current, this.waiting, false, false);
	}

}
