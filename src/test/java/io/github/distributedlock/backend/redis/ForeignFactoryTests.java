package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.redis.atomic.Atomicity;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.RedisCluster;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.tck.Ear;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.spring.data.connection.RedissonConnectionFactory;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * Locks by way of a connection factory that is not Spring Data's own, so that nothing can
 * be derived from it: Redisson's, of a server and of a cluster.
 */
@Tag("thorough")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ForeignFactoryTests {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private static final Duration LEASE = Duration.ofSeconds(30);

	private RedisCluster cluster;

	private List<RedissonClient> clients;

	@BeforeAll
	void connect() {
		Config server = new Config();
		server.useSingleServer()
			.setAddress("redis://" + RedisServers.shared(RedisServers.EMBEDDED))
			.setConnectionMinimumIdleSize(1);
		this.cluster = RedisCluster.start(RedisServers.EMBEDDED, 3);
		Config cluster = new Config();
		cluster.useClusterServers()
			.addNodeAddress("redis://" + this.cluster.masters().get(0))
			.setMasterConnectionMinimumIdleSize(1);
		this.clients = List.of(Redisson.create(server), Redisson.create(cluster));
	}

	@AfterAll
	void disconnect() {
		this.clients.forEach(RedissonClient::shutdown);
		this.cluster.close();
	}

	Stream<RedissonClient> clients() {
		return this.clients.stream();
	}

	@ParameterizedTest(autoCloseArguments = false)
	@MethodSource("clients")
	void aLockIsAcquiredRenewedAndReleased(RedissonClient client) {
		RedisLockBackend backend = new RedisLockBackend(new RedissonConnectionFactory(client));
		List<Claim> claims = TopologyCase.keys()
			.map((key) -> Claim.of(key, "a:" + key, "a", LEASE).fenced(true))
			.toList();
		for (Claim claim : claims) {
			long token = backend.acquire(claim).fencingToken().orElseThrow();
			assertThat(token).isPositive();
			Claim other = Claim.of(claim.key(), "b", "b", LEASE);
			assertThat(backend.acquire(other).holder().owner()).isEqualTo(claim.owner());
		}
		assertThat(backend.renew(claims)).hasSameSizeAs(claims).containsOnly(true);
		for (Claim claim : claims) {
			assertThat(backend.release(claim.key(), claim.owner())).isTrue();
			assertThat(backend.release(claim.key(), claim.owner())).isFalse();
		}
		backend.close();
	}

	// Redisson watches on one connection and executes on another, and says of a
	// transaction that was aborted that it was carried out.
	@Test
	void withoutScriptsThereIsNoTransactionInTheirPlace() {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED,
				"user default on nopass ~* &* +@all -eval -evalsha")) {
			Config config = new Config();
			config.useSingleServer().setAddress("redis://" + server).setConnectionMinimumIdleSize(1);
			RedissonClient client = Redisson.create(config);
			RedissonConnectionFactory application = new RedissonConnectionFactory(client);
			try (RedisLockBackend backend = new RedisLockBackend(application)) {
				assertThatExceptionOfType(LockBackendException.class).isThrownBy(backend::atomicity)
					.withMessageContainingAll("lua: NOPERM", "Either allow scripts")
					.satisfies((ex) -> assertThat(ex.getMessage()).doesNotContain("transaction"));
			}
			Map.of(Atomicity.TRANSACTION, "transaction", Atomicity.BEST_EFFORT, "best-effort")
				.forEach((atomicity, text) -> {
					RedisLockSettings settings = RedisLockSettings.defaults().atomicity(atomicity);
					assertThatIllegalArgumentException().isThrownBy(() -> new RedisLockBackend(application, settings))
						.withMessageContainingAll("neither Jedis' nor Lettuce's",
								"distributed-lock.redis.atomicity=" + text);
				});
			client.shutdown();
		}
	}

	@ParameterizedTest(autoCloseArguments = false)
	@MethodSource("clients")
	void aWaiterIsToldAndGetsTheLock(RedissonClient client) throws Exception {
		RedissonConnectionFactory application = new RedissonConnectionFactory(client);
		try (RedisLockBackend here = new RedisLockBackend(application);
				RedisLockBackend there = new RedisLockBackend(application);
				LockEngine engine = LockEngine.builder(here).build()) {
			String key = UUID.randomUUID().toString();
			Ear ear = new Ear();
			there.listen("b", ear);
			LockHandle handle = engine.acquire(key);
			assertThat(there.acquireOrRegister(Claim.of(key, "b:1", "b", LEASE)).holder().owner())
				.isEqualTo(handle.owner());
			handle.close();
			ear.awaitWake(key);
			CompletableFuture<Void> waiter = CompletableFuture
				.runAsync(() -> engine.acquire(LockRequest.of(key).waitTime(LEASE)).close(), this.threads);
			assertThat(there.acquireOrRegister(Claim.of(key, "b:1", "b", LEASE)).acquired()).isTrue();
			assertThat(waiter).isNotDone();
			there.release(key, "b:1");
			waiter.get(LEASE.toSeconds(), TimeUnit.SECONDS);
		}
	}

	@ParameterizedTest(autoCloseArguments = false)
	@MethodSource("clients")
	void closingTheBackendLeavesTheApplicationItsConnections(RedissonClient client) {
		RedisLockBackend backend = new RedisLockBackend(new RedissonConnectionFactory(client));
		String instance = UUID.randomUUID().toString();
		backend.listen(instance, new Ear());
		backend.acquireOrRegister(Claim.of(instance, "b:1", instance, LEASE));
		assertThat(subscribers(instance)).isEqualTo(1);
		backend.close();
		await().untilAsserted(() -> assertThat(subscribers(instance)).isZero());
		client.getBucket(instance).set("usable");
	}

	private long subscribers(String instance) {
		return Stream.concat(Stream.of(RedisServers.shared(RedisServers.EMBEDDED)), this.cluster.masters().stream())
			.mapToLong((server) -> {
				try (Jedis admin = server.admin()) {
					String channel = "lock-wake:" + instance;
					return admin.pubsubNumSub(channel).get(channel);
				}
			})
			.sum();
	}

}
