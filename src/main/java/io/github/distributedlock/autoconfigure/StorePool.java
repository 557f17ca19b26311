package io.github.distributedlock.autoconfigure;

/**
 * Connections that are kept open for a store outside of it.
 */
interface StorePool {

	/**
	 * Closes connections that are idle, and keeps none open until {@link #connect()}.
	 */
	void disconnect();

	/**
	 * Keeps connections open again.
	 */
	void connect();

}
