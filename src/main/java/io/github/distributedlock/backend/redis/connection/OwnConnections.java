package io.github.distributedlock.backend.redis.connection;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Map;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * The connections of a backend: to the application's Redis, with its settings, but apart
 * from its traffic and bounded by our command timeout.
 *
 * @param shared for steps of single commands
 * @param exclusive for steps that need a connection of their own while they last;
 * {@code null} in a cluster, where a command has no connection
 * @param signals for subscriptions, and whatever else needs a new connection
 * @param masters which master serves what
 * @param tls whether they speak TLS
 * @param rights what the user needs to be connected, as in a rule of access
 * @param end what ends the client, after the connections
 */
public record OwnConnections(Lanes shared, @Nullable Lanes exclusive, SignalLine signals, Masters masters, boolean tls,
		String rights, Runnable end) {

	private static final String JEDIS = "org.springframework.data.redis.connection.jedis.JedisConnectionFactory";

	private static final String LETTUCE = "org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory";

	/**
	 * Derives connections. Opens none yet.
	 * @param given the application's factory, or a proxy that always leads to it
	 * @param timeout the command timeout
	 * @throws IllegalArgumentException if it is not known where the factory leads
	 */
	// By names: either client may be missing. A subclass may give out the connections of
	// another factory, whatever its own settings say.
	public static OwnConnections derive(RedisConnectionFactory given, Duration timeout) {
		Object factory = target(given);
		String type = factory.getClass().getName();
		return switch (type) {
			case JEDIS -> JedisClient.derive(factory, timeout);
			case LETTUCE -> LettuceClient.derive(factory, timeout);
			default -> throw refusal("the connection factory " + type
					+ " does not say where it leads, as only Jedis' and Lettuce's do:"
					+ " set spring.data.redis.url to the servers of the locks, with Jedis or Lettuce on the class path;"
					+ " or define a bean of " + LETTUCE + " or " + JEDIS
					+ " for them, and name it with distributed-lock.redis.connection-factory");
		};
	}

	static IllegalArgumentException refusal(String reason) {
		return new IllegalArgumentException("Locks have connections of their own, and " + reason);
	}

	// Of a scoped proxy, say, the target may be another one for each request.
	private static Object target(Object factory) {
		Object inner = AopProxyUtils.getSingletonTarget(factory);
		return (inner != null) ? target(inner) : factory;
	}

	/**
	 * Whether there may be several masters, and clients that send a command again.
	 */
	public boolean cluster() {
		return this.exclusive == null;
	}

	public void close() {
		this.masters.end();
		this.shared.close();
		if (this.exclusive != null) {
			this.exclusive.close();
		}
		this.end.run();
	}

	/**
	 * Overrides some answers of the application's client configuration, by a proxy, since
	 * the methods of the interface differ between the versions of Spring Data.
	 * @param type the interface of the configuration
	 * @param application the application's
	 * @param answers from the name of a method to what becomes of its answer
	 * @param <C> the type of the configuration
	 * @return the configuration to derive with
	 */
	static <C> C override(Class<C> type, C application, Map<String, UnaryOperator<Object>> answers) {
		Object proxy = Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
				(self, method, arguments) -> {
					Object answer = AopUtils.invokeJoinpointUsingReflection(application, method, arguments);
					UnaryOperator<Object> change = answers.get(method.getName());
					return (change != null) ? change.apply(answer) : answer;
				});
		return type.cast(proxy);
	}

}
