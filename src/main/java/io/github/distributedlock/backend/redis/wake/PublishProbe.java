package io.github.distributedlock.backend.redis.wake;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Command.Verb;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.RedisFailures;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;

/**
 * Asks whether wake-ups may be published. An instance that subscribed where they may not
 * be would never be woken, but locks would be reserved for it, each for half a second.
 * The other instances count as allowed what this one is.
 */
final class PublishProbe {

	private static final byte[] NOTHING = {};

	/** No instance listens to it. */
	private final byte[] channel;

	PublishProbe(String channel) {
		this.channel = KeyNames.bytes(channel + "?");
	}

	/**
	 * Asks.
	 * @param link a connection that no other thread uses, since some proxies end it for
	 * this
	 * @throws LockBackendException if the server refuses it, or answers with an error
	 * that may mean that. Any other failure is left for the subscription to find out.
	 */
	void require(Link link) {
		try {
			link.call(Command.at(this.channel, Verb.PUBLISH, this.channel, NOTHING));
		}
		catch (RuntimeException ex) {
			LockBackendException failure = RedisFailures.translate("publish", "wake-ups", ex);
			if (RedisRefusal.isError(ex) || (failure.isNotCarriedOut() && !failure.isRetryable())) {
				throw failure;
			}
		}
	}

}
