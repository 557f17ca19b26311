package io.github.distributedlock.backend;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The store's answer to one attempt to acquire a key.
 *
 * @param acquired whether the claim's owner has the key now
 * @param holder the holder in whose favour the key is busy, {@code null} if the claim's
 * owner has the key, or the store did not name a holder
 * @param remaining after how long a busy key is free, unless the lease is renewed or the
 * key changes hands; {@code null} if the claim's owner has the key, or the store did not
 * say how long
 * @param fencingToken the fencing token of a fenced claim; {@code null} if the claim is
 * not fenced, or the key is busy
 * @param ahead how many waiters come before the claim's waiter, by which the engine
 * decides how soon to ask again; {@code null} if that waiter has no place, or the store
 * did not say how many
 * @since 1.0
 */
public record AcquireResult(boolean acquired, @Nullable Holder holder, @Nullable Duration remaining,
		@Nullable Long fencingToken, @Nullable Integer ahead) {

	/**
	 * The answer that the claim's owner has the key, without a fencing token.
	 */
	public static final AcquireResult ACQUIRED = new AcquireResult(true, null, null, null, null);

	/**
	 * The answer that the key is busy, from a store that did not say in whose favour.
	 */
	public static final AcquireResult BUSY = busy(null, null);

	/**
	 * Returns the answer that the claim's owner has the key now, with a fencing token.
	 * @param fencingToken the owner's fencing token
	 * @return the answer
	 */
	public static AcquireResult fenced(long fencingToken) {
		return new AcquireResult(true, null, null, fencingToken, null);
	}

	/**
	 * Returns the answer that the key is busy.
	 * @param holder the holder in whose favour the key is busy, {@code null} if that is
	 * not known
	 * @return the answer
	 */
	public static AcquireResult busy(@Nullable Holder holder) {
		return busy(holder, null);
	}

	/**
	 * Returns the answer that the key is busy.
	 * @param holder the holder in whose favour the key is busy, {@code null} if that is
	 * not known
	 * @param remaining in how long the key is free if nothing else happens, {@code null}
	 * if that is not known
	 * @return the answer
	 */
	public static AcquireResult busy(@Nullable Holder holder, @Nullable Duration remaining) {
		return busy(holder, remaining, null);
	}

	/**
	 * Returns the answer that the key is busy.
	 * @param holder the holder in whose favour the key is busy, {@code null} if that is
	 * not known
	 * @param remaining in how long the key is free if nothing else happens, {@code null}
	 * if that is not known
	 * @param ahead how many waiters come before the claim's waiter, {@code null} if that
	 * is not known
	 * @return the answer
	 */
	public static AcquireResult busy(@Nullable Holder holder, @Nullable Duration remaining, @Nullable Integer ahead) {
		return new AcquireResult(false, holder, remaining, null, ahead);
	}

}
