package io.github.distributedlock.autoconfigure;

import java.util.List;

/**
 * What a {@link Greeter} can be called by.
 */
interface Greeting {

	/**
	 * The keys of the lock inside of which the method runs.
	 */
	List<String> heldKeys();

}
