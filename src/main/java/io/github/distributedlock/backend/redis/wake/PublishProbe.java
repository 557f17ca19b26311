package io.github.distributedlock.backend.redis.wake;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.RedisFailures;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;

import org.springframework.data.redis.connection.RedisConnection;

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
	 * @param connection a connection that no other thread uses, since some proxies end it
	 * for this
	 * @throws LockBackendException if the server refuses it, or answers with an error
	 * that may mean that. Any other failure is left for the subscription to find out.
	 */
	void require(RedisConnection connection) {
		try {
			connection.publish(this.channel, NOTHING);
		}
		catch (RuntimeException ex) {
			LockBackendException failure = RedisFailures.translate("publish", "wake-ups", ex);
			if (RedisRefusal.isError(ex) || (failure.isNotCarriedOut() && !failure.isRetryable())) {
				throw failure;
			}
		}
	}

}
