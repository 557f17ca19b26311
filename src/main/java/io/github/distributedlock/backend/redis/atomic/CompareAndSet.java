package io.github.distributedlock.backend.redis.atomic;

import io.github.distributedlock.backend.redis.wire.Link;
import org.jspecify.annotations.Nullable;

/**
 * The one operation that has to be atomic for locks to be safe: compare and set. What
 * servers allow for it differs.
 */
interface CompareAndSet {

	/**
	 * Replaces the value of a key if it is the expected one, else changes nothing.
	 * @param link the way to the server
	 * @param name the name of the key
	 * @param expected the value that it has to have
	 * @param replacement its value then, {@code null} to remove the key
	 * @param millis its time to live then, in milliseconds
	 * @return whether it was replaced
	 */
	boolean replace(Link link, byte[] name, byte[] expected, byte @Nullable [] replacement, long millis);

	/**
	 * Whether nothing can come between the comparison and the change.
	 */
	default boolean isAtomic() {
		return true;
	}

}
