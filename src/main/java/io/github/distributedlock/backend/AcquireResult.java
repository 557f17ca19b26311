package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

/**
 * The store's answer to one attempt to acquire a key.
 *
 * @param acquired whether the claim's owner has the key now
 * @param holder if not: the one in whose favour the key is busy, where the store said so
 * @param left if not: when so much time is over, the key is free, unless its lease is
 * renewed or it changes hands; {@code null} where the store did not say so
 * @param fencingToken the token of a claim that was acquired and is fenced
 */
public record AcquireResult(boolean acquired, @Nullable Holder holder, @Nullable Duration left,
		OptionalLong fencingToken) {

	/**
	 * The claim's owner has the key.
	 */
	public static final AcquireResult ACQUIRED = new AcquireResult(true, null, null, OptionalLong.empty());

	/**
	 * Somebody else has the key, and the store did not say who.
	 */
	public static final AcquireResult BUSY = new AcquireResult(false, null, null, OptionalLong.empty());

	/**
	 * The claim's owner has the key now.
	 * @param fencingToken its fencing token
	 * @return the answer
	 */
	public static AcquireResult fenced(long fencingToken) {
		return new AcquireResult(true, null, null, OptionalLong.of(fencingToken));
	}

	/**
	 * Somebody else has the key.
	 * @param holder the one in whose favour the key is busy, {@code null} if that is not
	 * known
	 * @return the answer
	 */
	public static AcquireResult busy(@Nullable Holder holder) {
		return busy(holder, null);
	}

	/**
	 * Somebody else has the key.
	 * @param holder the one in whose favour the key is busy
	 * @param left in how long the key is free if nothing else happens, {@code null} if
	 * that is not known
	 * @return the answer
	 */
	public static AcquireResult busy(@Nullable Holder holder, @Nullable Duration left) {
		return new AcquireResult(false, holder, left, OptionalLong.empty());
	}

}
