package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.Objects;
import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

/**
 * The store's answer to one attempt to acquire a key. Immutable.
 */
public final class AcquireResult {

	/**
	 * The claim's owner has the key.
	 */
	public static final AcquireResult ACQUIRED = new AcquireResult(true, null, null, OptionalLong.empty());

	/**
	 * Another owner has the key, and the store did not say which.
	 */
	public static final AcquireResult BUSY = new AcquireResult(false, null, null, OptionalLong.empty());

	private final boolean acquired;

	private final @Nullable Holder holder;

	private final @Nullable Duration left;

	private final OptionalLong fencingToken;

	private AcquireResult(boolean acquired, @Nullable Holder holder, @Nullable Duration left,
			OptionalLong fencingToken) {
		this.acquired = acquired;
		this.holder = holder;
		this.left = left;
		this.fencingToken = fencingToken;
	}

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

	/**
	 * Whether the claim's owner has the key now.
	 * @return {@code true} if it has
	 */
	public boolean acquired() {
		return this.acquired;
	}

	/**
	 * The one in whose favour the key is busy.
	 * @return it, or {@code null} if the claim's owner has the key, or the store did not
	 * say so
	 */
	public @Nullable Holder holder() {
		return this.holder;
	}

	/**
	 * When so much time is over, a busy key is free, unless its lease is renewed or it
	 * changes hands.
	 * @return the time, or {@code null} if the claim's owner has the key, or the store
	 * did not say so
	 */
	public @Nullable Duration left() {
		return this.left;
	}

	/**
	 * The fencing token of a claim that is fenced.
	 * @return the token, or empty if the claim is not fenced, or the key is busy
	 */
	public OptionalLong fencingToken() {
		return this.fencingToken;
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof AcquireResult result && this.acquired == result.acquired
				&& Objects.equals(this.holder, result.holder) && Objects.equals(this.left, result.left)
				&& this.fencingToken.equals(result.fencingToken);
	}

	@Override
	public int hashCode() {
		return Objects.hash(this.acquired, this.holder, this.left, this.fencingToken);
	}

	@Override
	public String toString() {
		return "AcquireResult[acquired=" + this.acquired + ", holder=" + this.holder + ", left=" + this.left
				+ ", fencingToken=" + this.fencingToken + "]";
	}

}
