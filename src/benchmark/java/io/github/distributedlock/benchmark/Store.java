package io.github.distributedlock.benchmark;

/**
 * The server that contestants share, with a connection to it.
 */
interface Store extends AutoCloseable {

	int port();

	/**
	 * Leaves nothing behind that a contestant would find of another one.
	 */
	void flush();

	ServerLoad load();

	/**
	 * Returns the name and the version of the store.
	 */
	String version();

	@Override
	void close();

}
