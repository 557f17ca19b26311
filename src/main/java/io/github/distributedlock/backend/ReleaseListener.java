package io.github.distributedlock.backend;

/**
 * Gets the notifications for the waiters of one instance. An implementation is safe for
 * use by many threads, does not block, and does not throw.
 *
 * @since 1.0
 */
public interface ReleaseListener {

	/**
	 * Passes a notification on: a recall to {@link #onRecall}, any other to
	 * {@link #onRelease}. The store calls this method, which nobody overrides.
	 * @param notification the notification
	 */
	default void onNotification(ReleaseNotification notification) {
		String owner = notification.owner();
		if (owner != null && notification.isRecall()) {
			onRecall(notification.key(), owner);
		}
		else {
			onRelease(notification);
		}
	}

	/**
	 * Called when a key was reserved for, or granted to, a waiter of the instance, or may
	 * be free.
	 * @param notification the notification, which names the key and the waiter
	 */
	void onRelease(ReleaseNotification notification);

	/**
	 * Called when another instance has asked for a key whose owner is
	 * {@linkplain Claim#isRecallable(String) recallable}. Does nothing by default: the
	 * other instance waits for the release.
	 * @param key the user's key
	 * @param owner the owner that has the key in the store
	 */
	default void onRecall(String key, String owner) {
	}

	/**
	 * Called when notifications may have been missed, since no notifications arrived for
	 * a while, or since another server answers now. The other server may have forgotten
	 * what the store was told before, so the engine renews all locks that are held.
	 */
	void onResubscribed();

}
