package io.github.distributedlock.backend;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * The store's answer to a key that was to be {@linkplain OneStepHandOver#pass passed on}.
 * Immutable.
 */
public final class HandOverResult {

	private final boolean owned;

	private final AcquireResult next;

	private HandOverResult(boolean owned, AcquireResult next) {
		this.owned = owned;
		this.next = Objects.requireNonNull(next, "next");
	}

	/**
	 * Says what has become of both.
	 * @param owned whether the owner that passed the key on had it
	 * @param next what has become of the claim that it was passed on to
	 * @return the answer
	 */
	public static HandOverResult of(boolean owned, AcquireResult next) {
		return new HandOverResult(owned, next);
	}

	/**
	 * Whether the owner that passed the key on had it.
	 * @return {@code true} if it had
	 */
	public boolean owned() {
		return this.owned;
	}

	/**
	 * What has become of the claim that the key was passed on to.
	 * @return the store's answer to that claim
	 */
	public AcquireResult next() {
		return this.next;
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof HandOverResult result && this.owned == result.owned && this.next.equals(result.next);
	}

	@Override
	public int hashCode() {
		return Objects.hash(this.owned, this.next);
	}

	@Override
	public String toString() {
		return "HandOverResult[owned=" + this.owned + ", next=" + this.next + "]";
	}

}
