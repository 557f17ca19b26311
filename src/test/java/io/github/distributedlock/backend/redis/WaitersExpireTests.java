package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.fixtures.AtomicityCase;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisCluster;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.RedisServers.Server;
import io.github.distributedlock.fixtures.Relay;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

/**
 * A waiter without scripts leaves no key for ever, even if nothing of the server reaches
 * the waiter after the registration, as if the waiter had died.
 */
class WaitersExpireTests {

	private static final Duration LEASE = Duration.ofMinutes(2);

	private static final Duration PATIENCE = Patience.PATIENCE;

	static Stream<Arguments> ways() {
		return Arrays.stream(Client.values())
			.flatMap((client) -> Stream.of(Atomicity.TRANSACTION, Atomicity.BEST_EFFORT)
				.map((way) -> Arguments.of(client, way)));
	}

	@ParameterizedTest
	@MethodSource("ways")
	void aRegistrationWithoutAnAnswerExpires(Client client, Atomicity way) throws Exception {
		try (Server server = RedisServers.start(RedisServers.EMBEDDED); Relay relay = new Relay(server.port())) {
			registerWithoutAnAnswer(server, relay,
					client.backend(new RedisStandaloneConfiguration("localhost", relay.port()), settings(way)));
		}
	}

	@ParameterizedTest
	@EnumSource
	void soDoesOneInACluster(Client client) throws Exception {
		String comparing = AtomicityCase.onAllServers()
			.filter((one) -> one.atomicity() == Atomicity.NATIVE)
			.map(AtomicityCase::name)
			.findFirst()
			.orElse(null);
		assumeThat(comparing).as("a server that compares: a cluster has no other way without scripts").isNotNull();
		try (RedisCluster cluster = RedisCluster.start(comparing, 1);
				Relay relay = new Relay(cluster.masters().get(0).port())) {
			try (Jedis admin = cluster.masters().get(0).admin()) {
				admin.configSet("cluster-announce-port", String.valueOf(relay.port()));
			}
			registerWithoutAnAnswer(cluster.masters().get(0), relay, client.backend(
					new RedisClusterConfiguration(List.of("localhost:" + relay.port())), settings(Atomicity.NATIVE)));
		}
	}

	private static RedisLockSettings settings(Atomicity way) {
		return RedisLockSettings.defaults().commandTimeout(Patience.COMMAND).atomicity(way);
	}

	private static void registerWithoutAnAnswer(Server server, Relay relay, RedisLockBackend opened) throws Exception {
		try (RedisLockBackend backend = opened; Jedis admin = server.admin()) {
			assertThat(backend.acquire(Claim.of("k", "a:1", "a", LEASE)).acquired()).isTrue();
			relay.mute("ZADD");
			CompletableFuture<?> registering = CompletableFuture.runAsync(
					() -> backend.acquireOrRegister(Claim.of("k", "b:1", "b", LEASE)),
					(task) -> new Thread(task).start());
			await("the waiters expire").atMost(PATIENCE).until(() -> admin.pttl("lock-waiters:{k}") > 0);
			assertThat(registering).as("still without an answer").isNotDone();
			relay.close();
			assertThat(registering).failsWithin(PATIENCE);
		}
	}

}
