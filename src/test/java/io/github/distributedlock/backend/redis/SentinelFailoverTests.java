package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Access;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisSentinels;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.Variant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.ClientKillParams;
import redis.clients.jedis.params.ClientKillParams.SkipMe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What becomes of a lock when its master dies and a replica takes its place, where both
 * they and the Sentinels ask for a user and a password.
 */
@Tag("failover")
class SentinelFailoverTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration PATIENCE = Patience.PATIENCE;

	private final List<LockEvent.Lost> lost = new CopyOnWriteArrayList<>();

	private GuardedServers servers;

	private RedisSentinels sentinels;

	private RedisServers.Server master;

	private RedisServers.Server replica;

	private RedisLockBackend backend;

	private LockEngine engine;

	@BeforeEach
	void startServers() {
		this.servers = new GuardedServers(Variant.SERVER, Access.of("shop", "s3cret"));
		this.sentinels = this.servers.sentinels();
		this.master = this.sentinels.servers().master();
		this.replica = this.sentinels.servers().replicas().get(0);
	}

	@AfterEach
	void stopServers() {
		this.engine.close();
		this.backend.close();
		this.servers.close();
	}

	@ParameterizedTest
	@EnumSource
	void aLockThatAReplicaHasOutlivesTheMaster(Client client) {
		open(client, Variant.settings().replicasToAck(1, Duration.ofMillis(500)));
		LockHandle handle = this.engine.acquire(LockRequest.of("k").waitTime(PATIENCE));
		this.master.kill();
		awaitFailover();
		assertThat(this.backend.renew(List.of(claim(handle.owner())))).as("renewed at the new master")
			.containsExactly(true);
		try (Jedis admin = this.replica.admin()) {
			admin.select(Topology.SENTINEL.database());
			long least = LEASE.multipliedBy(4).dividedBy(5).toMillis();
			await().atMost(PATIENCE).until(() -> admin.pttl("lock:{k}") > least);
			assertThat(admin.get("lock:{k}")).isEqualTo(handle.owner());
		}
		assertThat(handle.isHeld()).isTrue();
		handle.close();
		assertThat(this.lost).isEmpty();
	}

	// No lock can prevent this: see replicas-to-ack.
	@ParameterizedTest
	@EnumSource
	void aLockThatNoReplicaHasIsToldLostAtTheNextRenewal(Client client) {
		open(client, Variant.settings());
		LockHandle handle = this.engine.acquire(LockRequest.of("k").waitTime(PATIENCE));
		try (Jedis admin = this.replica.admin()) {
			admin.select(Topology.SENTINEL.database());
			await().until(() -> admin.exists("lock:{k}"));
			// As if the master had died before it sent this.
			admin.configSet("replica-read-only", "no");
			admin.del("lock:{k}");
		}
		this.master.kill();
		awaitFailover();
		await().atMost(PATIENCE).untilAsserted(() -> assertThat(this.lost).hasSize(1));
		assertThat(this.lost).extracting(LockEvent.Lost::reason).containsExactly(Reason.TAKEN);
		assertThat(handle.isHeld()).isFalse();
		this.engine.acquire(LockRequest.of("k").waitTime(PATIENCE)).close();
	}

	/** One that the Sentinels cannot reach, but we can, knows nothing of its end. */
	@Test
	void aMasterThatTheSentinelsHaveReplacedIsLeftThoughItAnswers() {
		open(Client.JEDIS, Variant.settings());
		await().atMost(PATIENCE).ignoreExceptions().until(() -> !this.backend.release("any", "nobody"));
		try (Jedis old = this.master.admin()) {
			// Theirs, and the replica's, but not ours.
			old.aclSetUser("default", "off");
			old.clientKill(ClientKillParams.clientKillParams().user("default").skipMe(SkipMe.YES));
			await("a lock at the new master").atMost(PATIENCE).ignoreExceptions().until(() -> {
				this.backend.acquire(Claim.of("k", "a:1", "a", LEASE));
				return isAtTheReplica();
			});
			assertThat(old.role().get(0)).as("the old one still is one").isEqualTo("master");
		}
	}

	// On a connection of its own: those before are closed when it becomes the master.
	private boolean isAtTheReplica() {
		try (Jedis admin = this.replica.admin()) {
			admin.select(Topology.SENTINEL.database());
			return admin.exists("lock:{k}");
		}
	}

	private void awaitFailover() {
		await().atMost(PATIENCE).until(() -> this.sentinels.master() == this.replica);
		await().atMost(PATIENCE).ignoreExceptions().until(() -> {
			this.backend.release("any", "nobody");
			// On a connection of its own, which may learn of it later.
			this.backend.renew(List.of(claim("nobody")));
			return true;
		});
	}

	private void open(Client client, RedisLockSettings settings) {
		this.backend = client.backend(Topology.SENTINEL.of(this.servers), settings);
		this.engine = LockEngine.builder(this.backend).leaseTime(LEASE).listener((event) -> {
			if (event instanceof LockEvent.Lost loss) {
				this.lost.add(loss);
			}
		}).build();
	}

	private static Claim claim(String owner) {
		return Claim.of("k", owner, "a", Duration.ofMillis(1));
	}

}
