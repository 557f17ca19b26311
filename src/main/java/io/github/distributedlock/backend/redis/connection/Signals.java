package io.github.distributedlock.backend.redis.connection;

/**
 * How waiting requests learn that a lock was released.
 *
 * @since 1.0
 */
public enum Signals {

	/**
	 * By publish and subscribe. Where the server refuses it, and while the subscription
	 * is lost, by polling; a warning in the log says so.
	 */
	AUTO,

	/**
	 * By publish and subscribe. If the server refuses a subscription, requests that have
	 * to wait fail.
	 */
	PUBSUB,

	/**
	 * By polling alone, for servers and proxies without publish and subscribe. Costs the
	 * order between JVMs, and the time until the next poll.
	 */
	NONE

}
