package io.github.distributedlock.backend;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * A store's message that a key is reserved for a waiter, or may be free; or, by a
 * {@link GrantingQueue}, that it was granted: that the waiter's claim owns it already.
 * Immutable.
 */
public final class ReleaseNotification {

	private final String key;

	private final Waiter waiter;

	private final @Nullable String owner;

	private final long number;

	private ReleaseNotification(String key, Waiter waiter, @Nullable String owner, long number) {
		this.key = Objects.requireNonNull(key, "key");
		this.waiter = Objects.requireNonNull(waiter, "waiter");
		this.owner = owner;
		this.number = number;
	}

	/**
	 * Notifies a waiter, which has to ask for the key.
	 * @param key the user's key
	 * @param waiter the waiter, as it was {@linkplain Claim#waiter() registered}
	 * @return the notification
	 */
	public static ReleaseNotification of(String key, Waiter waiter) {
		return new ReleaseNotification(key, waiter, null, 0);
	}

	/**
	 * Notifies a waiter whose claim owns the key already.
	 * @param key the user's key
	 * @param waiter the waiter, as it was {@linkplain Claim#waiter() registered}
	 * @param owner the claim's owner
	 * @param number the claim's {@linkplain Claim#number() number}
	 * @return the notification
	 */
	public static ReleaseNotification granted(String key, Waiter waiter, String owner, long number) {
		return new ReleaseNotification(key, waiter, Objects.requireNonNull(owner, "owner"), number);
	}

	/**
	 * The user's key.
	 * @return the key
	 */
	public String key() {
		return this.key;
	}

	/**
	 * The waiter that is notified.
	 * @return the waiter
	 */
	public Waiter waiter() {
		return this.waiter;
	}

	/**
	 * The owner that the key was granted to, for as long as its claim says, counted by
	 * the store from then on.
	 * @return the owner token, {@code null} if the key was not granted
	 */
	public @Nullable String owner() {
		return this.owner;
	}

	/**
	 * Which claim of that owner the key was granted to.
	 * @return the claim's {@linkplain Claim#number() number}, 0 if the key was not
	 * granted
	 */
	public long number() {
		return this.number;
	}

	@Override
	public String toString() {
		return "ReleaseNotification[key=" + this.key + ", waiter=" + this.waiter
				+ ((this.owner != null) ? ", owner=" + this.owner + ", number=" + this.number : "") + "]";
	}

}
