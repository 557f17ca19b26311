package io.github.distributedlock.backend.redis.connection;

import org.jspecify.annotations.Nullable;

/**
 * Which master serves a slot, as far as a client knows it already: without I/O.
 */
public interface Masters {

	/**
	 * One master serves them all.
	 */
	Masters ONE = (slot) -> Masters.class;

	/**
	 * Finds the master of a slot.
	 * @param slot the slot
	 * @return an object equal for slots of the same master, {@code null} if not known yet
	 */
	@Nullable Object of(int slot);

	/**
	 * Adds what is to be done when another master has taken the place of one that may
	 * still answer, once no connection leads to that one any more. It must not block.
	 */
	default void onSwitch(Runnable listener) {
	}

	/**
	 * Ends the watching of masters.
	 */
	default void end() {
	}

}
