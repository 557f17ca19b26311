package io.github.distributedlock.backend.redis;

import io.github.distributedlock.backend.LockBackend.Renewal;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.NewConnections;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisCluster;
import io.github.distributedlock.fixtures.RedisServers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link RedisLockBackend} on a cluster whose slots move and whose masters end.
 */
@Tag("failover")
class ClusterTests {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private static final Duration LEASE = Duration.ofSeconds(30);

	@RegisterExtension
	static final RedisCluster cluster = RedisCluster.start(RedisServers.EMBEDDED, 3);

	private RedisLockBackend backend;

	@AfterEach
	void close() {
		if (this.backend != null) {
			this.backend.close();
		}
		cluster.awaitComplete();
	}

	@ParameterizedTest
	@EnumSource
	void aClientOfOneServerIsRefused(Client client) {
		try (RedisLockBackend plain = client.backend(cluster.masters().get(0).port())) {
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(plain::atomicity)
				.withMessageContainingAll("MOVED ", "spring.data.redis.cluster.nodes")
				.satisfies((ex) -> assertThat(ex.isRetryable()).as("retryable").isFalse())
				.satisfies((ex) -> assertThat(ex.isWithoutEffect()).as("refused").isTrue());
		}
	}

	@ParameterizedTest
	@EnumSource
	void manyLocksOfAllSlotsAreAcquiredAndGivenBack(Client client) {
		open(client);
		LockRequest request = LockRequest.of(Stream.generate(ClusterTests::claim).limit(1_000).map(Claim::key).toList())
			.waitTime(Duration.ofMinutes(1));
		try (RedisLockBackend there = new RedisLockBackend(client.connectTo(cluster));
				LockEngine a = LockEngine.builder(this.backend).build();
				LockEngine b = LockEngine.builder(there).build()) {
			try (LockHandle handle = a.acquire(request)) {
				assertThat(handle.isHeld()).isTrue();
				assertThat(b.tryAcquire(request.waitTime(Duration.ZERO))).as("busy").isEmpty();
			}
			assertThat(this.backend.largestRelease()).as("a key that moves must not have others released twice")
				.isEqualTo(1);
			b.acquire(request).close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void locksOfAllMastersAreRenewedAtOnce(Client client) {
		open(client);
		List<Claim> claims = Stream.generate(ClusterTests::claim).limit(50).toList();
		claims.forEach((claim) -> assertThat(this.backend.acquire(claim).acquired()).isTrue());
		this.backend.release(claims.get(7).key(), claims.get(7).owner());
		List<Boolean> owned = this.backend.renew(claims.stream().map(Renewal::of).toList());
		assertThat(owned).hasSize(50);
		assertThat(owned.indexOf(false)).as("the only one not owned").isEqualTo(7);
		assertThat(owned.lastIndexOf(false)).isEqualTo(7);
	}

	@ParameterizedTest
	@EnumSource
	void aLockIsRenewedThoughItsMasterHasNoOtherConnectionToGive(Client client) {
		// A cluster for this test alone, because a node without connections to give loses
		// the other nodes, too.
		try (RedisCluster own = RedisCluster.start(RedisServers.EMBEDDED, 2);
				RedisLockBackend locks = new RedisLockBackend(client.connectTo(own),
						RedisLockSettings.defaults().commandTimeout(Patience.COMMAND))) {
			Claim first = claim();
			RedisServers.Server master = own.masterOf(name(first.key()));
			Claim other = Stream.generate(ClusterTests::claim)
				.filter((claim) -> own.masterOf(name(claim.key())) != master)
				.findFirst()
				.orElseThrow();
			assertThat(locks.acquire(first).acquired()).isTrue();
			assertThat(locks.acquire(other).acquired()).isTrue();
			try (Jedis admin = master.admin(); Jedis elsewhere = own.masterOf(name(other.key())).admin()) {
				NewConnections connections = new NewConnections(elsewhere);
				await("renewals have a connection of their own").until(() -> {
					locks.renew(List.of(Renewal.of(other)));
					return connections.count() > 0;
				});
				admin.configSet("maxclients", "1");
				assertThat(locks.renew(List.of(Renewal.of(first)))).containsExactly(true);
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void aKeyIsOfTheMasterThatServesIt(Client client) {
		open(client);
		assertThat(this.backend.node("a")).as("not known before the first use").isNotEqualTo(this.backend.node("b"));
		this.backend.acquire(claim());
		Set<List<Object>> pairs = new HashSet<>();
		Stream.generate(() -> claim().key())
			.limit(200)
			.forEach((key) -> pairs.add(List.of(this.backend.node(key), cluster.masterOf(name(key)))));
		assertThat(pairs).as("each node with its master").hasSize(3);
	}

	@ParameterizedTest
	@EnumSource
	void aSlotThatMovesIsFollowed(Client client) {
		cluster.masters().forEach(ClusterTests::empty);
		open(client);
		Claim before = claim();
		this.backend.acquire(before);
		this.backend.renew(List.of(Renewal.of(before)));
		RedisServers.Server from = cluster.masterOf(name(before.key()));
		RedisServers.Server to = cluster.masters().stream().filter((master) -> master != from).findAny().orElseThrow();
		try (Jedis source = from.admin(); Jedis target = to.admin()) {
			int slot = (int) source.clusterKeySlot(name(before.key()));
			source.del(name(before.key()));
			target.clusterSetSlotImporting(slot, source.clusterMyId());
			source.clusterSetSlotMigrating(slot, target.clusterMyId());
			assertThat(this.backend.acquire(before).acquired()).as("acquired while the slot moves (ASK)").isTrue();
			assertThat(source.clusterCountKeysInSlot(slot)).as("keys at the old master").isZero();
			target.clusterSetSlotNode(slot, target.clusterMyId());
			source.clusterSetSlotNode(slot, target.clusterMyId());
			assertThat(this.backend.renew(List.of(Renewal.of(before)))).as("renewed after the slot has moved (MOVED)")
				.containsExactly(true);
			assertThat(this.backend.release(before.key(), before.owner())).isTrue();
			target.clusterSetSlotNode(slot, source.clusterMyId());
			source.clusterSetSlotNode(slot, source.clusterMyId());
		}
	}

	@ParameterizedTest
	@EnumSource
	void aMasterThatWasDownIsUsedAgain(Client client) {
		open(client);
		Claim claim = claim();
		this.backend.acquire(claim);
		RedisServers.Server master = cluster.masterOf(name(claim.key()));
		master.kill();
		master.start();
		await().ignoreExceptions()
			.until(() -> this.backend.acquire(claim).acquired()
					&& this.backend.renew(List.of(Renewal.of(claim))).get(0));
	}

	@ParameterizedTest
	@EnumSource
	void aStepGivesUpOnAMasterThatNeverAnswersAndIsNotSentAgain(Client client) {
		open(client, RedisLockSettings.defaults().commandTimeout());
		Claim claim = claim();
		RedisServers.Server master = cluster.masterOf(name(claim.key()));
		try (Jedis admin = master.admin()) {
			// A connection that was idle for long, as on a busy machine, is sent a PING
			// at first.
			await("a step that is sent").pollInSameThread().until(() -> {
				List<String> sent = sentWhilePaused(master, admin, claim);
				assertThat(sent).allMatch((line) -> line.matches("cmdstat_set:calls=[123],.*"));
				return !sent.isEmpty();
			});
		}
	}

	private List<String> sentWhilePaused(RedisServers.Server master, Jedis admin, Claim claim) {
		await().ignoreException(LockBackendException.class).until(() -> this.backend.acquire(claim).acquired());
		admin.configResetStat();
		master.pause();
		try {
			for (int i = 0; i < 3; i++) {
				assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.backend.acquire(claim));
			}
		}
		finally {
			master.resume();
		}
		try (Jedis last = master.admin()) {
			last.ping();
		}
		// A command that was sent is carried out, whoever still listens.
		return admin.info("commandstats").lines().filter((line) -> line.startsWith("cmdstat_set:")).toList();
	}

	private void open(Client client) {
		open(client, Patience.COMMAND);
	}

	private void open(Client client, Duration timeout) {
		this.backend = new RedisLockBackend(client.connectTo(cluster),
				RedisLockSettings.defaults().commandTimeout(timeout));
	}

	private static Claim claim() {
		String key = UUID.randomUUID().toString();
		return Claim.of(key, "owner of " + key, "a", LEASE);
	}

	private static String name(String key) {
		return "lock:{" + key + "}";
	}

	private static void empty(RedisServers.Server master) {
		try (Jedis admin = master.admin()) {
			admin.flushAll();
		}
	}

}
