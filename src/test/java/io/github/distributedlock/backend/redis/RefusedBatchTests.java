package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import redis.clients.jedis.Jedis;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.RedisCluster;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.Relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for steps of several keys that a server refuses because of some of them. A
 * cluster of one master, behind the client of one server, refuses a script whose keys are
 * in several slots.
 */
@ExtendWith(OutputCaptureExtension.class)
class RefusedBatchTests {

	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final List<String> KEYS = List.of("a", "b", "c");

	@RegisterExtension
	static final RedisCluster cluster = RedisCluster.start(RedisServers.EMBEDDED, 1);

	@ParameterizedTest
	@EnumSource
	void locksOfSeveralSlotsAreRenewedAndReleased(Client client, CapturedOutput output) {
		try (RedisLockBackend backend = client.backend(cluster.masters().get(0).port())) {
			assertThat(backend.atomicity()).isEqualTo(Atomicity.LUA);
			assertThat(output).as("told at the start")
				.containsOnlyOnce("the server refuses scripts whose keys are in several slots")
				.contains("spring.data.redis.cluster.nodes");
			acquire(backend);
			assertThat(backend.renew(renewals())).containsExactly(true, true, true);
			assertThat(backend.releaseAll(KEYS, "i:1")).containsExactly(true, true, true);
			assertThat(backend.largestBatch()).as("a key that moves away must not cost others").isEqualTo(1);
			assertThat(backend.largestRelease()).isEqualTo(1);
		}
	}

	@ParameterizedTest
	@EnumSource
	void nothingIsLostWhenTheServerBecomesACluster(Client client) {
		try (RedisServers.Server single = RedisServers.start(RedisServers.EMBEDDED);
				Relay name = new Relay(single.port());
				RedisLockBackend backend = client.backend(name.port())) {
			acquire(backend);
			assertThat(backend.renew(renewals())).containsExactly(true, true, true);
			assertThat(backend.largestRelease()).isEqualTo(backend.largestBatch()).isGreaterThan(1);
			name.leadTo(cluster.masters().get(0).port());
			name.silence();
			name.cut();
			await().ignoreExceptions().untilAsserted(() -> acquire(backend));
			assertThat(backend.renew(renewals())).containsExactly(true, true, true);
			assertThat(backend.releaseAll(KEYS, "i:1")).containsExactly(true, true, true);
		}
	}

	@ParameterizedTest
	@EnumSource
	void theFirstReleaseInAClusterIsCarriedOut(Client client, CapturedOutput output) {
		try (RedisServers.Server single = RedisServers.start(RedisServers.EMBEDDED);
				Relay name = new Relay(single.port());
				RedisLockBackend backend = client.backend(name.port());
				LockEngine engine = LockEngine.builder(backend).build()) {
			engine.acquire("other").close();
			name.leadTo(cluster.masters().get(0).port());
			name.silence();
			name.cut();
			engine.acquire(LockRequest.of(KEYS).waitTime(LEASE)).close();
			assertThat(output).doesNotContain("Could not release lock");
			assertThat(KEYS).allMatch((key) -> backend.inspect(key).isFree());
		}
	}

	@Tag("thorough")
	@ParameterizedTest
	@EnumSource
	void aKeyThatIsNotAllowedAnyMoreCostsNoOtherLock(Client client) {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED);
				Jedis admin = server.admin();
				RedisLockBackend backend = client.backend(server.port());
				LockEngine engine = LockEngine.builder(backend).watchdogTimeout(Duration.ofSeconds(9)).build()) {
			List<LockHandle> forbidden = new ArrayList<>();
			List<LockHandle> allowed = new ArrayList<>();
			for (int i = 0; i < 20; i++) {
				forbidden.add(engine.acquire("forbidden" + i));
				allowed.add(engine.acquire("allowed" + i));
			}
			admin.aclSetUser("default", "resetkeys", "~lock:{allowed*", "~lock:{probe*");
			await().until(() -> forbidden.stream().noneMatch(LockHandle::isHeld));
			assertThat(allowed).as("renewed since then")
				.allMatch((handle) -> handle.remaining().compareTo(Duration.ofSeconds(1)) > 0);
			admin.aclSetUser("default", "allkeys");
			forbidden.forEach(LockHandle::close);
			allowed.forEach(LockHandle::close);
		}
	}

	private static void acquire(RedisLockBackend backend) {
		KEYS.forEach((key) -> assertThat(
				backend.acquire(claim(key)).acquired() || backend.acquireOrRegister(claim(key)).acquired())
			.isTrue());
	}

	private static List<Renewal> renewals() {
		return KEYS.stream().map((key) -> Renewal.of(claim(key))).toList();
	}

	private static Claim claim(String key) {
		return Claim.of(key, "i:1", "i", LEASE);
	}

}
