package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;

import io.github.distributedlock.LockBackendException;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The clients of Redis from whose connection factories connections of a backend can be
 * derived.
 */
public final class RedisClients {

	private static final String JEDIS = "org.springframework.data.redis.connection.jedis.JedisConnectionFactory";

	private static final String LETTUCE = "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory";

	/**
	 * Derives connections. Opens none yet.
	 * @param given the application's factory, or a proxy that always leads to that
	 * factory
	 * @param timeout the command timeout
	 * @throws LockBackendException if the factory does not tell its server
	 */
	// The factories are known by the names of their classes, since either client may be
	// missing. Subclasses are refused: a subclass may give out connections of another
	// factory, whatever the subclass's own settings say.
	public static OwnConnections derive(RedisConnectionFactory given, Duration timeout) {
		Object factory = target(given);
		String type = factory.getClass().getName();
		return switch (type) {
			case JEDIS -> JedisClient.derive(factory, timeout);
			case LETTUCE -> LettuceClient.derive(factory, timeout);
			default -> throw OwnConnections.refusal(
					"the connection factory " + type + " does not say where it leads, as only Jedis' and Lettuce's do",
					"define a bean of " + LETTUCE + " or " + JEDIS + " for the servers of the locks, and name it with"
							+ " distributed-lock.redis.connection-factory; or remove what defines the other factory,"
							+ " such as redisson-spring-boot-starter, and set spring.data.redis.url");
		};
	}

	// Only the target of a proxy that always has the same target counts. A scoped proxy
	// may have another target for each request.
	private static Object target(Object factory) {
		Object inner = AopProxyUtils.getSingletonTarget(factory);
		return (inner != null) ? target(inner) : factory;
	}

	private RedisClients() {
	}

}
