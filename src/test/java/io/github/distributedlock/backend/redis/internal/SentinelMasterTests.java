package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.fixtures.Access;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisSentinels;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.RedisServers.Server;
import io.github.distributedlock.fixtures.Variant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;
import redis.clients.jedis.params.ClientKillParams.SkipMe;

import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The Sentinels whose answers count, and the fate of locks when no Sentinel is there.
 */
@Tag("failover")
class SentinelMasterTests {

	private static final Duration PATIENCE = Patience.PATIENCE.multipliedBy(2);

	private int keys;

	@ParameterizedTest
	@EnumSource
	void oneThatIsCutOffIsNotBelieved(Client client) {
		try (RedisSentinels cutOff = RedisSentinels.start(Variant.SERVER, 0);
				RedisSentinels others = RedisSentinels.start(Variant.SERVER, 1);
				RedisLockBackend backend = backend(client, cutOff, others)) {
			Server first = others.master();
			await("a lock where most say").atMost(PATIENCE).ignoreExceptions().until(() -> locksAt(first, backend));
			others.failOver();
			await("another master").atMost(PATIENCE).until(() -> others.master() != first);
			Server second = others.master();
			await("a lock where the others say").atMost(PATIENCE)
				.ignoreExceptions()
				.until(() -> locksAt(second, backend));
			others.sentinels().forEach(Server::close);
			Server left = cutOff.sentinels().get(0);
			long asked = commandsAt(left) + 50;
			await("questions to the Sentinel that is left").atMost(PATIENCE).until(() -> commandsAt(left) > asked);
			assertThat(locksAt(second, backend)).as("a lock where the others said").isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource
	void noneIsNeededOnceTheMasterIsKnown(Client client) {
		try (RedisSentinels all = RedisSentinels.start(Variant.SERVER, 1);
				RedisLockBackend backend = backend(client, all)) {
			Server master = all.master();
			await("a lock").atMost(PATIENCE).ignoreExceptions().until(() -> locksAt(master, backend));
			all.sentinels().forEach(Server::close);
			try (Jedis admin = master.admin()) {
				admin.clientKill(ClientKillParams.clientKillParams().type(ClientType.NORMAL).skipMe(SkipMe.YES));
			}
			await("a lock on another connection").atMost(PATIENCE)
				.ignoreExceptions()
				.until(() -> locksAt(master, backend));
		}
	}

	@ParameterizedTest
	@EnumSource
	void whatAllThatAnswerRefuseIsNotRetried(Client client) {
		try (Server redis = RedisServers.start(Variant.SERVER);
				RedisSentinels open = RedisSentinels.start(Variant.SERVER, 0);
				RedisSentinels guarded = RedisSentinels.start(Variant.SERVER, Access.OPEN, Access.of("shop", "s3cret"),
						0)) {
			Server one = open.sentinels().get(0);
			open.sentinels().get(1).close();
			assertRefused(client, "other", "knows no master of the name 'other'", "spring.data.redis.sentinel.master",
					open.sentinels().get(1), one);
			assertRefused(client, RedisSentinels.MASTER, "unknown command", "spring.data.redis.sentinel.nodes", redis);
			assertRefused(client, RedisSentinels.MASTER, "NOAUTH", "spring.data.redis.sentinel.password",
					guarded.sentinels().get(0));
		}
	}

	@ParameterizedTest
	@EnumSource
	void noConnectionIsLeftToOneOfThem(Client client) {
		try (RedisSentinels all = RedisSentinels.start(Variant.SERVER, 1);
				Jedis sentinel = all.sentinels().get(0).admin()) {
			Set<String> before = unnamedClientsOf(sentinel);
			try (RedisLockBackend backend = backend(client, all)) {
				await("a lock").atMost(PATIENCE).ignoreExceptions().until(() -> locksAt(all.master(), backend));
				await("connections").atMost(PATIENCE).until(() -> !before.containsAll(unnamedClientsOf(sentinel)));
			}
			await("their end").atMost(PATIENCE).until(() -> before.containsAll(unnamedClientsOf(sentinel)));
		}
	}

	/** The Sentinels' own connections have names, those of the library have none. */
	private static Set<String> unnamedClientsOf(Jedis sentinel) {
		return sentinel.clientList()
			.lines()
			.filter((line) -> line.contains(" name= "))
			.map((line) -> line.substring(0, line.indexOf(' ')))
			.collect(Collectors.toSet());
	}

	@Test
	@SuppressWarnings({ "deprecation", "removal" }) // Spring Boot 3.5 has no other name
													// for it.
	void jedisMaySpeakTheNewerProtocol() {
		try (RedisSentinels all = RedisSentinels.start(Variant.SERVER, 1)) {
			Server sentinel = all.sentinels().get(0);
			JedisConnectionFactory factory = new JedisConnectionFactory(
					new RedisSentinelConfiguration().master(RedisSentinels.MASTER)
						.sentinel(sentinel.host(), sentinel.port()),
					JedisClientConfiguration.builder()
						.customize((builder) -> builder.protocol(RedisProtocol.RESP3))
						.build());
			try (RedisLockBackend backend = new RedisLockBackend(factory, Variant.settings())) {
				await("a lock").atMost(PATIENCE).ignoreExceptions().until(() -> locksAt(all.master(), backend));
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void theirPasswordMayBeChanged(Client client) {
		try (RedisSentinels all = RedisSentinels.start(Variant.SERVER, Access.OPEN, Access.of("shop", "old"), 0);
				Jedis sentinel = all.sentinels().get(0).admin()) {
			RedisSentinelConfiguration configuration = new RedisSentinelConfiguration().master(RedisSentinels.MASTER)
				.sentinel("127.0.0.1", all.sentinels().get(0).port());
			configuration.setSentinelUsername("shop");
			configuration.setSentinelPassword("old");
			try (RedisLockBackend backend = client.backend(configuration, Variant.settings())) {
				await("a lock").atMost(PATIENCE).ignoreExceptions().until(() -> locksAt(all.master(), backend));
				sentinel.aclSetUser("shop", "resetpass", ">new");
				configuration.setSentinelPassword("new");
				sentinel.sendCommand(Protocol.Command.CLIENT, "KILL", "USER", "shop");
				await("another connection").atMost(PATIENCE).until(() -> sentinel.clientList().contains("user=shop"));
			}
		}
	}

	private static void assertRefused(Client client, String master, String said, String remedy, Server... nodes) {
		RedisSentinelConfiguration configuration = new RedisSentinelConfiguration().master(master);
		Stream.of(nodes).forEach((node) -> configuration.sentinel(node.host(), node.port()));
		try (RedisLockBackend backend = client.backend(configuration, Variant.settings())) {
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(backend::atomicity)
				.withMessageContainingAll(said, remedy)
				.satisfies((ex) -> assertThat(ex.isRetryable()).as(ex.getMessage()).isFalse());
		}
	}

	private static RedisLockBackend backend(Client client, RedisSentinels... worlds) {
		RedisSentinelConfiguration configuration = new RedisSentinelConfiguration().master(RedisSentinels.MASTER);
		// The application knows one Sentinel of the first group.
		configuration.sentinel("127.0.0.1", worlds[0].sentinels().get(0).port());
		for (RedisSentinels world : worlds) {
			if (world != worlds[0] || worlds.length == 1) {
				world.sentinels().forEach((sentinel) -> configuration.sentinel("127.0.0.1", sentinel.port()));
			}
		}
		return client.backend(configuration, Variant.settings());
	}

	private boolean locksAt(Server server, RedisLockBackend backend) {
		String key = "k" + this.keys++;
		backend.acquire(Claim.of(key, "a:" + this.keys, "a", Duration.ofMinutes(10)));
		try (Jedis admin = server.admin()) {
			return admin.exists("lock:{" + key + "}");
		}
	}

	private static long commandsAt(Server sentinel) {
		try (Jedis admin = sentinel.admin()) {
			return admin.info("stats")
				.lines()
				.filter((line) -> line.startsWith("total_commands_processed:"))
				.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
				.sum();
		}
	}

}
