package io.github.distributedlock.backend;

import org.jspecify.annotations.Nullable;

/**
 * The store's answer to one attempt to acquire a key.
 *
 * @param acquired whether the claim's owner has the key now
 * @param holder if not: whose value stands there, where the store said so
 */
public record Attempt(boolean acquired, @Nullable String holder) {

	/**
	 * The claim's owner has the key.
	 */
	public static final Attempt ACQUIRED = new Attempt(true, null);

	/**
	 * Somebody else has the key, and the store did not say who.
	 */
	public static final Attempt BUSY = new Attempt(false, null);

	/**
	 * Somebody else has the key.
	 * @param holder the value that stands there: an owner token, or {@code reserved:} or
	 * {@code parked:} with one
	 * @return the answer
	 */
	public static Attempt busy(@Nullable String holder) {
		return (holder != null) ? new Attempt(false, holder) : BUSY;
	}

}
