package io.github.distributedlock.backend.redis;

/**
 * The way in which waiting requests learn that a lock was released.
 *
 * @since 1.0
 */
public enum Signals {

	/**
	 * Requests learn of releases by publish and subscribe. If the server refuses to
	 * subscribe or publish, and while the subscription is lost, requests poll; a warning
	 * in the log says so.
	 */
	AUTO,

	/**
	 * Requests learn of releases by publish and subscribe. If the server refuses a
	 * subscription, requests that have to wait fail.
	 */
	PUBSUB,

	/**
	 * Requests only poll, for servers and proxies without publish and subscribe. Polling
	 * costs the order between JVMs, and the time until the next poll.
	 */
	NONE

}
