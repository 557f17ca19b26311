package io.github.distributedlock.backend.redis.connection;

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
 * @param shared for steps of single commands
 * @param exclusive for steps that need a connection of their own while they last;
 * {@code null} in a cluster, where a command has no connection, and over a factory that
 * promises none
 * @param signals for subscriptions, and whatever else needs a new connection
 * @param cluster whether there may be several masters, and clients that send a command
 * again
 * @param masters which of them serves what
 * @param tls whether they speak TLS
 * @param rights what the user needs to be connected, as in a rule of access
 */
public record OwnConnections(Lanes shared, @Nullable Lanes exclusive, SignalLine signals, boolean cluster,
		Masters masters, boolean tls, String rights) {

	private static final Logger logger = LoggerFactory.getLogger(OwnConnections.class);

	// The classes of a client are touched only if it is there: either may be missing.
	public static OwnConnections derive(RedisConnectionFactory given, Duration timeout) {
		RedisConnectionFactory application = FactoryProxies.unwrap(given);
		if (isPresent("redis.clients.jedis.Jedis") && JedisClient.isOf(application)) {
			return JedisClient.derive(application, timeout);
		}
		if (isPresent("io.lettuce.core.RedisClient") && LettuceClient.isOf(application)) {
			return LettuceClient.derive(application, timeout);
		}
		logger
			.warn("Locks share the connections of {}, which is not, or not certainly, Jedis' or Lettuce's factory: its own"
					+ " command timeout holds instead of {} ms, it may send a command again, and slow commands of the application"
					+ " may delay the renewal of leases", application.getClass().getName(), timeout.toMillis());
		return SharedConnections.of(application);
	}

	private static boolean isPresent(String name) {
		return ClassUtils.isPresent(name, OwnConnections.class.getClassLoader());
	}

	public void close() {
		this.masters.end();
		this.signals.close();
		this.shared.close();
		if (this.exclusive != null) {
			this.exclusive.close();
		}
	}

}
