package io.github.distributedlock.backend;

import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

/**
 * The store's answer to one attempt to acquire a key.
 *
 * @param acquired whether the claim's owner has the key now
 * @param holder if not: whose value stands there, where the store said so
 * @param fencingToken the token of a claim that was acquired and is fenced
 */
public record Attempt(boolean acquired, @Nullable String holder, OptionalLong fencingToken) {

	/**
	 * The claim's owner has the key.
	 */
	public static final Attempt ACQUIRED = new Attempt(true, null, OptionalLong.empty());

	/**
	 * Somebody else has the key, and the store did not say who.
	 */
	public static final Attempt BUSY = new Attempt(false, null, OptionalLong.empty());

	/**
	 * The claim's owner has the key now.
	 * @param fencingToken its fencing token
	 * @return the answer
	 */
	public static Attempt fenced(long fencingToken) {
		return new Attempt(true, null, OptionalLong.of(fencingToken));
	}

	/**
	 * Somebody else has the key.
	 * @param holder the value that stands there: an owner token, or {@code reserved:} or
	 * {@code parked:} with one
	 * @return the answer
	 */
	public static Attempt busy(@Nullable String holder) {
		return (holder != null) ? new Attempt(false, holder, OptionalLong.empty()) : BUSY;
	}

}
