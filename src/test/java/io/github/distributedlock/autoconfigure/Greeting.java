package io.github.distributedlock.autoconfigure;

import java.util.List;

/**
 * The interface of a {@link Greeter}.
 */
interface Greeting {

	/**
	 * The keys of the lock inside of which the method runs.
	 */
	List<String> heldKeys();

}
