package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisCluster;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.RelayedConnection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Connections to a cluster that something on the way has forgotten, or that could not be
 * had for a while. The cluster names the relay as its only node.
 */
class ForgottenConnectionTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	private static final int NOBODY = 1;

	private final Relay relay = new Relay(NOBODY);

	private final RedisCluster cluster = RedisCluster.start(RedisServers.EMBEDDED, 1,
			"cluster-announce-port " + this.relay.port());

	private final int port = this.cluster.masters().get(0).port();

	private final Jedis admin = this.cluster.masters().get(0).admin();

	@AfterEach
	void close() {
		this.admin.close();
		this.relay.close();
		this.cluster.close();
	}

	@ParameterizedTest
	@EnumSource
	void aConnectionThatIsSilentIsReplaced(Client client) {
		this.relay.leadTo(this.port);
		Claim claim = Claim.of("k", "i:1", "i", Duration.ofMinutes(5));
		try (RedisLockBackend backend = backend(client)) {
			await().ignoreExceptions().until(() -> backend.acquire(claim).acquired());
			await("renewals have a connection").ignoreExceptions().untilAsserted(() -> renews(backend, claim));
			this.relay.silence();
			// The connection for renewals is replaced, too.
			await().ignoreExceptions().untilAsserted(() -> renews(backend, claim));
			await().ignoreExceptions().untilAsserted(() -> assertThat(backend.release("k", "i:1")).isTrue());
			assertThat(this.relay.hasLost()).isTrue();
		}
	}

	@Tag("thorough")
	@ParameterizedTest
	@EnumSource
	void aHandshakeLongerThanACommandSucceedsAtLast(Client client) {
		Set<RelayedConnection> known = ConcurrentHashMap.newKeySet();
		this.relay.add((request, connection) -> {
			if (known.add(connection)) {
				Thread.sleep(2 * TIMEOUT.toMillis());
			}
			return false;
		});
		this.relay.leadTo(this.port);
		Claim claim = Claim.of("k", "i:1", "i", Duration.ofMinutes(5));
		try (RedisLockBackend cluster = backend(client);
				RedisLockBackend single = client.backend(
						new RedisStandaloneConfiguration("localhost", this.relay.port()),
						RedisLockSettings.defaults().commandTimeout(TIMEOUT))) {
			await("in a cluster").ignoreExceptions().until(() -> cluster.acquire(claim).acquired());
			await("on one server").ignoreExceptions().until(() -> single.release(claim.key(), claim.owner()));
		}
	}

	@Tag("faults")
	@ParameterizedTest
	@EnumSource
	void aForgottenConnectionCostsNoLock(Client client) {
		this.relay.leadTo(this.port);
		try (RedisLockBackend backend = backend(client);
				LockEngine engine = LockEngine.builder(backend).watchdogTimeout(Duration.ofSeconds(9)).build();
				LockHandle held = engine.acquire(LockRequest.of("k").waitTime(Patience.PATIENCE))) {
			awaitRenewal(engine);
			this.relay.silence();
			engine.acquire(LockRequest.of("other").waitTime(Patience.PATIENCE)).close();
			for (int renewals = 0; renewals < 3; renewals++) {
				awaitRenewal(engine);
			}
			assertThat(held.isHeld()).isTrue();
		}
	}

	@Tag("faults")
	@ParameterizedTest
	@EnumSource
	void anOutageOfTwoThirdsOfTheLeaseCostsNoLock(Client client) throws Exception {
		this.relay.leadTo(this.port);
		try (RedisLockBackend backend = backend(client);
				LockEngine engine = LockEngine.builder(backend).watchdogTimeout(Duration.ofSeconds(27)).build();
				LockHandle held = engine.acquire(LockRequest.of("k").waitTime(Patience.PATIENCE))) {
			awaitRenewal(engine);
			this.relay.leadTo(NOBODY);
			this.relay.silence();
			this.relay.cut();
			Thread.sleep(18_000);
			this.relay.leadTo(this.port);
			awaitRenewal(engine);
			assertThat(held.isHeld()).isTrue();
		}
	}

	/**
	 * Waits until the engine knows of a further renewal: the relay may lose the answer to
	 * one that the server has carried out.
	 */
	private void awaitRenewal(LockEngine engine) {
		int before = renewals(engine);
		await().until(() -> {
			assertThat(this.admin.pttl("lock:{k}")).as("the lock is at the server").isPositive();
			return renewals(engine) > before;
		});
	}

	private static int renewals(LockEngine engine) {
		return engine.snapshot().holds().stream().mapToInt(EngineSnapshot.Hold::renewals).sum();
	}

	private static void renews(RedisLockBackend backend, Claim claim) {
		assertThat(backend.renew(List.of(Renewal.of(claim)))).containsExactly(true);
	}

	private RedisLockBackend backend(Client client) {
		return client.backend(new RedisClusterConfiguration(List.of("localhost:" + this.relay.port())),
				RedisLockSettings.defaults().commandTimeout(TIMEOUT));
	}

}
