package io.github.distributedlock.backend.redis;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.util.ClassUtils;

/**
 * The connections of a backend: to the application's Redis, with its settings, but apart
 * from its traffic and bounded by our command timeout.
 *
 * @param commands for what callers wait for
 * @param renewals for renewals alone, which a flood of callers must not delay
 * @param signals for subscriptions
 * @param cluster whether there may be several masters, and clients that send a command
 * again
 * @param masters which of them serves what
 * @param acks for acquires that wait for replicas, {@code null} if they cannot
 */
record OwnConnections(Lane commands, Lane renewals, SignalLine signals, boolean cluster, Masters masters,
		@Nullable AckLane acks) {

	private static final Logger logger = LoggerFactory.getLogger(OwnConnections.class);

	// The classes of a client are touched only if it is there: either may be missing.
	static OwnConnections derive(RedisConnectionFactory application, Duration timeout) {
		if (isPresent("redis.clients.jedis.Jedis") && JedisClient.isOf(application)) {
			return JedisClient.derive(application, timeout);
		}
		if (isPresent("io.lettuce.core.RedisClient") && LettuceClient.isOf(application)) {
			return LettuceClient.derive(application, timeout);
		}
		logger.warn("Locks share the connections of {}, which is neither Jedis' nor Lettuce's factory: its own"
				+ " command timeout holds instead of {} ms, it may send a command again, and slow commands of the application"
				+ " may delay the renewal of leases", application.getClass().getName(), timeout.toMillis());
		return SharedConnections.of(application);
	}

	private static boolean isPresent(String name) {
		return ClassUtils.isPresent(name, OwnConnections.class.getClassLoader());
	}

	void close() {
		this.signals.close();
		this.commands.close();
		this.renewals.close();
		if (this.acks != null) {
			this.acks.close();
		}
	}

}
