package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.Set;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Waiter;

/**
 * A local queue: the key, and the waiter that its requests are in the store. The
 * exclusive requests of this JVM are one waiter, its shared requests are another, and
 * each fair request is one of its own.
 *
 * @param key the key
 * @param waiter as it is {@linkplain io.github.distributedlock.backend.Claim#waiter()
 * registered}
 */
record QueueKey(String key, Waiter waiter) {

	/**
	 * That of the requests that a claim is one of.
	 */
	static QueueKey of(Claim claim) {
		return new QueueKey(claim.key(), claim.waiter());
	}

	/**
	 * What an owner may have claimed as this waiter, as far as it takes to undo that.
	 */
	Claim claim(String owner) {
		return new Claim(this.key, owner, this.waiter, Duration.ofMillis(1), false, new Claim.Grant(0, null, Set.of()));
	}

}
