package io.github.distributedlock.engine;

import java.time.Duration;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Waiter;

/**
 * Identifies what this JVM knows of a key by the key, and by the waiter that the requests
 * are in the store. The exclusive requests of this JVM are one waiter, the shared
 * requests of this JVM are another, and each fair request is a waiter of its own.
 *
 * @param key the key
 * @param waiter the waiter as {@linkplain Claim#waiter() registered}
 */
record QueueKey(String key, Waiter waiter) {

	/**
	 * Returns a claim that an owner may have made as this waiter, with no more than is
	 * needed to undo the claim.
	 */
	Claim claim(String owner) {
		return Claim.of(this.key, owner, this.waiter, Duration.ofMillis(1));
	}

	/**
	 * Returns the hash of a key, whose lower bits choose a place in a table.
	 */
	static int hash(String key) {
		int hash = key.hashCode();
		return (hash ^ (hash >>> 16)) | 1 << 31; // Not 0, which stands for no hash.
	}

}
