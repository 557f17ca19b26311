package io.github.distributedlock.autoconfigure;

/**
 * Connections for a store that are kept open outside of the store.
 */
interface StorePool {

	/**
	 * Closes idle connections, and keeps none open until {@link #connect()}.
	 */
	void disconnect();

	/**
	 * Keeps connections open again.
	 */
	void connect();

}
