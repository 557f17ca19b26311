package io.github.distributedlock.engine.runtime;

import io.github.distributedlock.backend.LockBackend;

/**
 * The nodes of a store, told apart so that one that stalls harms only its own keys.
 */
public record Nodes(LockBackend backend) {

	public Object of(String key) {
		try {
			return this.backend.node(key);
		}
		catch (RuntimeException ex) {
			return key; // Alone on its node, so that it costs no other.
		}
	}

}
