package io.github.distributedlock.backend.redis.atomic;

/**
 * Whether a waiter is told that a lock is reserved for it, and what the number of those
 * who heard means.
 */
public enum Publishing {

	/**
	 * Nobody is told, since everybody polls.
	 */
	NOTHING,

	/**
	 * A node of a cluster tells how many of its own clients heard, and not how many of
	 * the others'.
	 */
	IN_CLUSTER,

	/**
	 * Who did not hear is not there.
	 */
	ON_ONE_SERVER

}
