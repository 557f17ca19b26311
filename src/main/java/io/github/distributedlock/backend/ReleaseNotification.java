package io.github.distributedlock.backend;

import java.util.Objects;

/**
 * A store's message that a key is reserved for a waiter, or may be free.
 * <p>
 * A class and no record, since it will carry more: a store that makes the waiter the
 * owner in the same step will say so here.
 */
public final class ReleaseNotification {

	private final String key;

	private final Waiter waiter;

	private ReleaseNotification(String key, Waiter waiter) {
		this.key = Objects.requireNonNull(key, "key");
		this.waiter = Objects.requireNonNull(waiter, "waiter");
	}

	/**
	 * Notifies a waiter, which has to ask for the key.
	 * @param key the user's key
	 * @param waiter the waiter, as it was {@linkplain Claim#waiter() registered}
	 * @return the notification
	 */
	public static ReleaseNotification of(String key, Waiter waiter) {
		return new ReleaseNotification(key, waiter);
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

	@Override
	public String toString() {
		return "ReleaseNotification[key=" + this.key + ", waiter=" + this.waiter + "]";
	}

}
