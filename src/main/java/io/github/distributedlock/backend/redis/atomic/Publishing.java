package io.github.distributedlock.backend.redis.atomic;

/**
 * Whether a waiter is notified when a lock is reserved for it, and what the number of
 * receivers means.
 */
public enum Publishing {

	/**
	 * No waiter is notified, since all of them poll.
	 */
	NOTHING,

	/**
	 * A node of a cluster tells how many of its own clients heard, and not how many of
	 * the others'.
	 */
	IN_CLUSTER,

	/**
	 * A waiter that did not hear is gone.
	 */
	ON_ONE_SERVER

}
