package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.RedisServers;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.core.StringRedisTemplate;

import static org.assertj.core.api.Assertions.assertThat;

class RedisBackendFactoryTests {

	private static final RedisServers.Server SERVER = RedisServers.shared(RedisServers.EMBEDDED);

	private static final int PORT = SERVER.port();

	@ParameterizedTest
	@ValueSource(strings = { "jedis", "lettuce" })
	void locksInTheApplicationsRedis(String client) {
		Contexts.withRedis(PORT)
			.withPropertyValues("spring.data.redis.client-type=" + client, "distributed-lock.redis.prefix=" + client)
			.run((context) -> {
				StringRedisTemplate redis = context.getBean(StringRedisTemplate.class);
				try (LockHandle handle = context.getBean(DistributedLock.class).acquire("key")) {
					assertThat(redis.opsForValue().get(client + ":{key}")).isEqualTo(handle.owner());
				}
				assertThat(redis.hasKey(client + ":{key}")).isFalse();
			});
	}

	/**
	 * Lettuce's only one for commands is opened with what takes most of the time anyway.
	 */
	@ParameterizedTest
	@CsvSource({ "jedis, 0", "lettuce, 1" })
	void opensNoConnectionsInAdvanceBeyondTheNecessaryOnes(String client, int connections) {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED)) {
			Contexts.withRedis(server.port())
				.withPropertyValues("spring.data.redis.client-type=" + client)
				.run((context) -> {
					try (Jedis probe = server.admin()) {
						assertThat(probe.clientList().lines()).hasSize(1 + connections);
						context.getBean(DistributedLock.class).acquire("key").close();
						assertThat(probe.clientList().lines()).hasSizeGreaterThan(1);
					}
				});
		}
	}

	@ParameterizedTest
	@CsvSource({ "false, second, 2", "true, '', 1" })
	void takesTheNamedOrThePrimaryOneOfSeveral(boolean primary, String name, int database) {
		Contexts.withoutRedis()
			.withBean("first", RedisConnectionFactory.class, () -> database(Client.JEDIS, 1),
					(definition) -> definition.setPrimary(primary))
			.withBean("second", RedisConnectionFactory.class, () -> database(Client.LETTUCE, 2))
			.withPropertyValues("distributed-lock.redis.connection-factory=" + name)
			.run((context) -> {
				try (LockHandle handle = context.getBean(DistributedLock.class).acquire("several")) {
					assertThat(exists(1, "lock:{several}")).isEqualTo(database == 1);
					assertThat(exists(2, "lock:{several}")).isEqualTo(database == 2);
				}
			});
	}

	private static boolean exists(int database, String key) {
		try (Jedis jedis = SERVER.admin()) {
			jedis.select(database);
			return jedis.exists(key);
		}
	}

	private static RedisConnectionFactory database(Client client, int database) {
		RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration("localhost", PORT);
		configuration.setDatabase(database);
		return client.connectTo(configuration);
	}

}
