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
import io.github.distributedlock.test.RedisSentinels;
import io.github.distributedlock.test.RedisServers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What becomes of a lock when its master dies and a replica takes its place.
 */
class SentinelFailoverTests {

	private static final Duration LEASE = Duration.ofSeconds(15);

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final List<LockEvent.Lost> lost = new CopyOnWriteArrayList<>();

	private RedisSentinels sentinels;

	private RedisServers.Server master;

	private RedisServers.Server replica;

	private RedisLockBackend backend;

	private LockEngine engine;

	@BeforeEach
	void startServers() {
		this.sentinels = RedisSentinels.start(RedisServers.EMBEDDED, 1);
		this.master = this.sentinels.servers().master();
		this.replica = this.sentinels.servers().replicas().get(0);
	}

	@AfterEach
	void stopServers() {
		this.engine.close();
		this.backend.close();
		this.sentinels.close();
	}

	@ParameterizedTest
	@EnumSource
	void aLockThatAReplicaHasOutlivesTheMaster(Factories client) {
		open(client, RedisLockSettings.defaults().replicasToAck(1, Duration.ofMillis(500)));
		LockHandle handle = this.engine.acquire(LockRequest.of("k").waitTime(PATIENCE));
		this.master.kill();
		awaitFailover();
		assertThat(this.backend.renew(List.of(claim(handle.owner())))).as("renewed at the new master")
			.containsExactly(true);
		try (Jedis admin = this.replica.admin()) {
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
	void aLockThatNoReplicaHasIsToldLostAtTheNextRenewal(Factories client) {
		open(client, RedisLockSettings.defaults());
		LockHandle handle = this.engine.acquire(LockRequest.of("k").waitTime(PATIENCE));
		try (Jedis admin = this.replica.admin()) {
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

	private void awaitFailover() {
		await().atMost(PATIENCE).until(() -> this.sentinels.master() == this.replica);
		await().atMost(PATIENCE).ignoreExceptions().until(() -> {
			this.backend.release("any", "nobody");
			return true;
		});
	}

	private void open(Factories client, RedisLockSettings settings) {
		this.backend = new RedisLockBackend(client.to(this.sentinels), settings);
		this.engine = LockEngine.builder(this.backend).leaseTime(LEASE).listener((event) -> {
			if (event instanceof LockEvent.Lost loss) {
				this.lost.add(loss);
			}
		}).build();
	}

	private static Claim claim(String owner) {
		return new Claim("k", owner, "a", Duration.ofMillis(1));
	}

}
