package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

/**
 * The store's answer to one attempt to acquire a key.
 *
 * @param acquired whether the claim's owner has the key now
 * @param holder the one in whose favour the key is busy, {@code null} if the claim's
 * owner has the key, or the store did not say so
 * @param left when so much time is over, a busy key is free, unless its lease is renewed
 * or it changes hands; {@code null} if the claim's owner has the key, or the store did
 * not say so
 * @param fencingToken the fencing token of a claim that is fenced; empty if it is not, or
 * the key is busy
 * @since 1.0
 */
public record AcquireResult(boolean acquired, @Nullable Holder holder, @Nullable Duration left,
		OptionalLong fencingToken) {

	/**
	 * The claim's owner has the key.
	 */
	public static final AcquireResult ACQUIRED = new AcquireResult(true, null, null, OptionalLong.empty());

	/**
	 * Another owner has the key, and the store did not say which.
	 */
	public static final AcquireResult BUSY = busy(null, null);

	/**
	 * The claim's owner has the key now.
	 * @param fencingToken its fencing token
	 * @return the answer
	 */
	public static AcquireResult fenced(long fencingToken) {
		return new AcquireResult(true, null, null, OptionalLong.of(fencingToken));
	}

	/**
	 * Another owner has the key.
	 * @param holder the one in whose favour the key is busy, {@code null} if that is not
	 * known
	 * @return the answer
	 */
	public static AcquireResult busy(@Nullable Holder holder) {
		return busy(holder, null);
	}

	/**
	 * Another owner has the key.
	 * @param holder the one in whose favour the key is busy, {@code null} if that is not
	 * known
	 * @param left in how long the key is free if nothing else happens, {@code null} if
	 * that is not known
	 * @return the answer
	 */
	public static AcquireResult busy(@Nullable Holder holder, @Nullable Duration left) {
		return new AcquireResult(false, holder, left, OptionalLong.empty());
	}

}
