package io.github.distributedlock.protocol;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The requests of one JVM: {@code LocalKey}.
 *
 * @param current the thread that has the turn, or {@link #WITHDRAWAL} or
 * {@link #WITHDRAWN}
 * @param waiting the threads behind that one
 * @param registered whether the store may know this JVM as a waiter
 * @param woken whether there is a wake-up that nobody has consumed
 * @param ownedKey the key, if it is held, or left to the current turn
 */
record Queue(int current, List<Integer> waiting, boolean registered, boolean woken, @Nullable OwnedKey ownedKey) {

	/**
	 * In the place of a thread: the store is to be told that nobody waits.
	 */
	static final int WITHDRAWAL = -1;

	/**
	 * In the place of a thread: the answer to a withdrawal is under way.
	 */
	static final int WITHDRAWN = -2;

	static Queue of(int current) {
		return new Queue(current, List.of(), false, false, null);
	}

	Queue current(int current) {
		return new Queue(current, this.waiting, this.registered, this.woken, this.ownedKey);
	}

	Queue waiting(List<Integer> waiting) {
		return new Queue(this.current, waiting, this.registered, this.woken, this.ownedKey);
	}

	Queue registering() {
		return new Queue(this.current, this.waiting, true, this.woken, this.ownedKey);
	}

	Queue woken(boolean woken) {
		return new Queue(this.current, this.waiting, this.registered, woken, this.ownedKey);
	}

	/**
	 * The store has forgotten the registration.
	 */
	Queue settled() {
		return new Queue(this.current, this.waiting, false, false, this.ownedKey);
	}

	Queue ownedKey(@Nullable OwnedKey ownedKey) {
		return new Queue(this.current, this.waiting, this.registered, this.woken, ownedKey);
	}

}
