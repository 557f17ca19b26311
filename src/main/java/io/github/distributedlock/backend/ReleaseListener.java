package io.github.distributedlock.backend;

/**
 * Gets the notifications for the waiters of one instance. Safe for use by many threads;
 * does not block, and does not throw.
 *
 * @since 1.0
 */
public interface ReleaseListener {

	/**
	 * The store has sent a notification, which goes to {@link #onRecall} or to
	 * {@link #onRelease}. Called by the store, and not to be overridden.
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
	 * A key was reserved for a waiter of the instance, or may be free.
	 * @param notification the key, and the waiter
	 */
	void onRelease(ReleaseNotification notification);

	/**
	 * Another instance has asked for a key whose owner is
	 * {@linkplain Claim#isRecallable(String) recallable}. By default nothing is done: the
	 * other instance waits for the release.
	 * @param key the user's key
	 * @param owner the owner that has the key in the store
	 */
	default void onRecall(String key, String owner) {
	}

	/**
	 * Notifications may have been missed, since they did not arrive for a while, or the
	 * server is another one now. What it was told before, it may have forgotten, so the
	 * engine renews everything that is held.
	 */
	void onResubscribed();

}
