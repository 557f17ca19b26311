package io.github.distributedlock.faults;

import io.github.distributedlock.fixtures.Relay;

/**
 * How a member reaches the server.
 */
enum Route {

	/** On connections of the library. */
	DIRECT,

	/** On connections of the library, through a {@link Relay}. */
	RELAYED

}
