package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.function.IntFunction;
import java.util.function.Supplier;

import io.github.distributedlock.LockBackendException;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The connections of a backend: to the application's Redis, with its settings, but apart
 * from its traffic and bounded by our command timeout.
 *
 * @param shared for steps of single commands
 * @param exclusive for steps that need a connection of their own while they last;
 * {@code null} in a cluster, where commands of a step may go to several nodes
 * @param signals for subscriptions, and whatever else needs a new connection
 * @param masters which master serves a slot, as far as the client knows it already: an
 * object equal for slots of the same master
 * @param sentinels what watches the master, if there are Sentinels
 * @param tls whether they speak TLS
 * @param rights what the user needs to be connected, as in a rule of access
 * @param end what ends the client, after the connections
 */
public record OwnConnections(Lanes shared, @Nullable Lanes exclusive, SignalConnector signals,
		IntFunction<@Nullable Object> masters, @Nullable SentinelMaster sentinels, boolean tls, String rights,
		Runnable end) {

	private static final String JEDIS = "org.springframework.data.redis.connection.jedis.JedisConnectionFactory";

	private static final String LETTUCE = "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory";

	/**
	 * Derives connections. Opens none yet.
	 * @param given the application's factory, or a proxy that always leads to it
	 * @param timeout the command timeout
	 * @throws LockBackendException if it is not known where the factory leads
	 */
	// By names: either client may be missing. A subclass may give out the connections of
	// another factory, whatever its own settings say.
	public static OwnConnections derive(RedisConnectionFactory given, Duration timeout) {
		Object factory = target(given);
		String type = factory.getClass().getName();
		return switch (type) {
			case JEDIS -> JedisClient.derive(factory, timeout);
			case LETTUCE -> LettuceClient.derive(factory, timeout);
			default -> throw refusal(
					"the connection factory " + type + " does not say where it leads, as only Jedis' and Lettuce's do",
					"define a bean of " + LETTUCE + " or " + JEDIS + " for the servers of the locks, and name it with"
							+ " distributed-lock.redis.connection-factory; or remove what defines the other factory,"
							+ " such as redisson-spring-boot-starter, and set spring.data.redis.url");
		};
	}

	static LockBackendException refusal(String reason, String remedy) {
		return LockBackendException.of("Locks have connections of their own, and " + reason).remedy(remedy).build();
	}

	// Of a scoped proxy, say, the target may be another one for each request.
	private static Object target(Object factory) {
		Object inner = AopProxyUtils.getSingletonTarget(factory);
		return (inner != null) ? target(inner) : factory;
	}

	/**
	 * Returns whether there may be several masters.
	 */
	public boolean cluster() {
		return this.exclusive == null;
	}

	/**
	 * Adds what is to be done when another master has taken the place of one that may
	 * still answer, once no connection leads to that one any more. It must not block.
	 */
	public void onSwitch(Runnable listener) {
		if (this.sentinels != null) {
			this.sentinels.onSwitch(listener);
		}
	}

	/**
	 * Bounds what opens connections by the command timeout, as it bounds their opening:
	 * it is done in the background, for all that want it at the same time.
	 * @return what waits for it, or throws an {@link UnsentException}
	 */
	public static <T> Supplier<T> bounded(Supplier<T> opener, Duration timeout) {
		return new Opening<>(opener, timeout, Opening.FIRST)::await;
	}

	public void close() {
		if (this.sentinels != null) {
			this.sentinels.end();
		}
		this.shared.close();
		if (this.exclusive != null) {
			this.exclusive.close();
		}
		this.end.run();
	}

}
