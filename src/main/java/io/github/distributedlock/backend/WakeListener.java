package io.github.distributedlock.backend;

/**
 * Hears what the store has to say to the waiters of one JVM. Does not block.
 */
public interface WakeListener {

	/**
	 * A key was reserved for this JVM, or may be free.
	 * @param key the user's key
	 * @param waiter for whom, as it was {@linkplain Claim#waiter() registered}
	 */
	void onWake(String key, String waiter);

	/**
	 * Messages may have been missed, since the connection was lost for a while.
	 */
	void onResubscribed();

}
