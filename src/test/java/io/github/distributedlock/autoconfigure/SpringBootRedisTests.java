package io.github.distributedlock.autoconfigure;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Locale;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.fixtures.Access;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.RedisServers.Server;
import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.SelfSigned;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Locks are kept in the Redis that Spring Boot is configured for, whatever the way of
 * configuration.
 */
class SpringBootRedisTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	/**
	 * A port on which nobody listens.
	 */
	private static final String NOWHERE = "spring.data.redis.port=1";

	private final ApplicationContextRunner application = Contexts.withRedis()
		.withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class))
		.withPropertyValues(NOWHERE, "distributed-lock.redis.command-timeout=" + Patience.COMMAND);

	@ParameterizedTest
	@EnumSource
	void followTheUrl(Client client) {
		try (Server guarded = RedisServers.start(RedisServers.EMBEDDED, Access.of("locker", "secret"), List.of());
				Jedis admin = guarded.admin()) {
			admin.select(3);
			lock(client, this.application.withPropertyValues(
					"spring.data.redis.url=redis://locker:secret@localhost:" + guarded.port() + "/3"), admin);
		}
	}

	@ParameterizedTest
	@EnumSource
	void followConnectionDetails(Client client) {
		lock(client, withDetails(Contexts.redisConnectionDetails()), redis.admin());
	}

	/**
	 * Details, as of a container, tell in place of the properties where Redis is.
	 */
	private <T> ApplicationContextRunner withDetails(Class<T> type) {
		return this.application.withBean(type,
				() -> type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
						(proxy, method, arguments) -> method.getName().equals("getStandalone")
								? method.getReturnType()
									.getMethod("of", String.class, int.class)
									.invoke(null, "localhost", redis.port())
								: InvocationHandler.invokeDefault(proxy, method, arguments))));
	}

	@ParameterizedTest
	@EnumSource
	void trustAnSslBundle(Client client) {
		SelfSigned certificate = SelfSigned.create();
		try (Relay relay = new Relay(redis.port(), certificate.serverSockets())) {
			lock(client,
					this.application.withPropertyValues("spring.data.redis.port=" + relay.port(),
							"spring.data.redis.ssl.bundle=redis",
							"spring.ssl.bundle.pem.redis.truststore.certificate=" + certificate.certificate().toUri()),
					redis.admin());
		}
	}

	private static void lock(Client client, ApplicationContextRunner application, Jedis admin) {
		application.withPropertyValues("spring.data.redis.client-type=" + client.name().toLowerCase(Locale.ROOT))
			.run((context) -> {
				assertThat(context).hasNotFailed();
				try (LockHandle handle = context.getBean(DistributedLock.class).acquire("k")) {
					assertThat(admin.get("lock:{k}")).isEqualTo(handle.owner());
				}
			});
	}

}
