package io.github.distributedlock.faults;

/**
 * How a member reaches the server.
 */
enum Route {

	/** On connections of the library. */
	DIRECT,

	/** On connections of the library, through a {@link RespRelay}. */
	RELAYED,

	/**
	 * Through a {@link RespRelay}, on the connections of the application, because they
	 * are of a kind that the library does not know.
	 */
	SHARED

}
