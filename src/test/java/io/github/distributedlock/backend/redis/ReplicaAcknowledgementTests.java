package io.github.distributedlock.backend.redis;

import io.github.distributedlock.backend.LockBackend.Renewal;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisReplicas;
import io.github.distributedlock.fixtures.RedisServers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisClusterConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * A lock counts as acquired only when enough replicas have it, if that is asked for.
 */
@Tag("thorough")
class ReplicaAcknowledgementTests {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	/** The wait for a replica that acknowledges nothing. */
	private static final Duration BRIEFLY = Duration.ofMillis(500);

	private RedisReplicas servers;

	private Jedis master;

	private RedisLockBackend backend;

	private LockEngine engine;

	@BeforeEach
	void startServers() {
		this.servers = RedisReplicas.start(RedisServers.EMBEDDED, 1);
		this.master = this.servers.master().admin();
		this.master.configResetStat();
	}

	@AfterEach
	void stopServers() {
		this.engine.close();
		this.backend.close();
		this.master.close();
		this.servers.close();
	}

	@ParameterizedTest
	@EnumSource
	void aLockIsOnTheReplicaWhenItIsAcquired(Client client) {
		open(client);
		try (Jedis replica = this.servers.replicas().get(0).admin()) {
			for (int i = 0; i < 200; i++) {
				String key = "k" + i;
				try (LockHandle handle = this.engine.acquire(LockRequest.of(key).fenced(i % 2 == 0))) {
					assertThat(replica.get("lock:{" + key + "}")).isEqualTo(handle.owner());
				}
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void withTooFewReplicasALockIsNotAcquiredAndNotLeftBehind(Client client) {
		open(client, BRIEFLY);
		this.engine.acquire("k").close();
		this.servers.replicas().get(0).pause();
		for (Duration waitTime : List.of(Duration.ZERO, Duration.ofSeconds(1))) {
			this.master.configResetStat();
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> this.engine.acquire(LockRequest.of("k").waitTime(waitTime)))
				.withMessageContaining("Lock 'k' was taken, but only 0 of 1 replicas acknowledged it within 500 ms,"
						+ " so it was released")
				.withMessageContaining("distributed-lock.redis.replicas-to-ack")
				.satisfies((ex) -> assertThat(ex.isRetryable()).as("retryable").isTrue());
			assertThat(calls("wait")).as("attempts of 500 ms").isBetween(1L, 1 + waitTime.dividedBy(BRIEFLY));
			assertThat(this.master.exists("lock:{k}")).as("left at the master").isFalse();
		}
		this.servers.replicas().get(0).resume();
		await().ignoreExceptions().untilAsserted(() -> this.engine.acquire("k").close());
	}

	@ParameterizedTest
	@EnumSource
	void withTooFewReplicasALockThatIsPassedOnIsGivenBack(Client client) {
		open(client, BRIEFLY);
		Claim claim = claim("k");
		await("an acknowledgement in time").ignoreException(LockBackendException.class)
			.until(() -> this.backend.acquire(claim).acquired());
		this.servers.replicas().get(0).pause();
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.backend.pass(claim.owner(), claim("k"), false))
			.withMessageContaining("only 0 of 1 replicas acknowledged it")
			.satisfies((ex) -> assertThat(ex.isWithoutEffect()).as("as if nothing had happened").isFalse());
		assertThat(this.master.exists("lock:{k}")).as("left at the master").isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void aLockIsNotLeftBehindIfTheReplicasMayNotBeAsked(Client client) {
		open(client);
		this.backend.atomicity(); // Tries the server.
		this.master.aclSetUser("default", "-wait");
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.engine.acquire(LockRequest.of("k").waitTime(Duration.ZERO)))
			.withMessageContaining("could not finish to acquire lock 'k'")
			.withMessageContaining("NOPERM");
		await().untilAsserted(() -> assertThat(this.master.exists("lock:{k}")).as("left at the master").isFalse());
	}

	@ParameterizedTest
	@EnumSource
	void aRequestThatMayWaitGoesOnUntilTheReplicaIsBack(Client client) {
		open(client, BRIEFLY);
		this.engine.acquire("k").close();
		this.servers.replicas().get(0).pause();
		CompletableFuture<Boolean> waiter = CompletableFuture.supplyAsync(() -> {
			try (LockHandle handle = this.engine.acquire(LockRequest.of("k").waitTime(Patience.PATIENCE))) {
				return handle.isHeld();
			}
		}, this.threads);
		await().until(() -> calls("wait") >= 4);
		assertThat(waiter).isNotDone();
		this.servers.replicas().get(0).resume();
		assertThat(waiter).succeedsWithin(Patience.PATIENCE).isEqualTo(true);
		assertThat(this.master.exists("lock:{k}")).as("left at the master").isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void onlyAnAcquisitionWaitsForReplicas(Client client) {
		open(client);
		this.backend.atomicity(); // Tries the server.
		this.master.configResetStat();
		Claim claim = claim("k");
		this.backend.acquire(claim);
		this.backend.acquire(claim("k"));
		this.backend.acquireOrRegister(claim("k"));
		this.backend.renew(List.of(Renewal.of(claim)));
		this.backend.leaveToExpire("k", claim.owner(), Duration.ofMillis(1));
		this.backend.withdraw("k", Waiter.exclusive("a"), Set.of());
		this.backend.release("k", claim.owner());
		assertThat(calls("wait")).as("WAITs for the one that acquired").isOne();
		await().untilAsserted(() -> assertThat(this.backend.acquireOrRegister(claim("k")).acquired()).isTrue());
		assertThat(calls("wait")).as("WAITs for both that acquired").isEqualTo(2);
		Claim passed = claim("passed");
		this.backend.acquire(passed);
		assertThat(this.backend.pass(passed.owner(), claim("passed"), false).next().acquired()).isTrue();
		assertThat(calls("wait")).as("WAITs for each that acquired").isEqualTo(4);
		assertThat(this.backend.pass(passed.owner(), claim("passed"), false).next().acquired()).isFalse();
		assertThat(calls("wait")).as("WAITs for each that acquired").isEqualTo(4);
	}

	@ParameterizedTest
	@EnumSource
	void waitingForReplicasDelaysNoOtherStep(Client client) {
		open(client);
		Claim held = claim("held");
		this.backend.acquire(held);
		this.servers.replicas().get(0).pause();
		List<CompletableFuture<Void>> waiting = IntStream.range(0, 8)
			.mapToObj((i) -> CompletableFuture.runAsync(() -> this.backend.acquire(claim("waits-" + i)), this.threads))
			.toList();
		await().until(() -> this.master.info("clients").contains("blocked_clients:")
				&& !this.master.info("clients").contains("blocked_clients:0"));
		assertThat(this.backend.renew(List.of(Renewal.of(held)))).containsExactly(true);
		assertThat(this.backend.release("held", held.owner())).isTrue();
		assertThat(waiting).as("acquires, when others were carried out").noneMatch(CompletableFuture::isDone);
		this.servers.replicas().get(0).resume();
		assertThat(waiting).allSatisfy((one) -> assertThat(one).succeedsWithin(Patience.PATIENCE));
	}

	@ParameterizedTest
	@EnumSource
	void aMasterThatComesBackIsUsedAgain(Client client) {
		open(client);
		this.engine.acquire("k").close();
		this.servers.master().stop();
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.backend.acquire(claim("k")));
		this.servers.master().start();
		this.servers.awaitReplicas();
		await().ignoreExceptions().untilAsserted(() -> this.engine.acquire("k").close());
	}

	@ParameterizedTest
	@EnumSource
	void aClusterIsRefused(Client client) {
		open(client);
		RedisClusterConfiguration cluster = new RedisClusterConfiguration(List.of("localhost:1"));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new RedisLockBackend(client.connectTo(cluster), oneReplica(BRIEFLY)))
			.withMessageContaining("distributed-lock.redis.replicas-to-ack")
			.withMessageContaining("in a cluster");
	}

	private static RedisLockSettings oneReplica(Duration timeout) {
		return RedisLockSettings.defaults().commandTimeout(Patience.COMMAND).replicasToAck(1, timeout);
	}

	private void open(Client client) {
		open(client, Patience.COMMAND.dividedBy(2));
	}

	private void open(Client client, Duration timeout) {
		this.backend = new RedisLockBackend(client.connectTo(this.servers.master().port()), oneReplica(timeout));
		this.engine = LockEngine.builder(this.backend).build();
	}

	private long calls(String command) {
		return this.master.info("commandstats")
			.lines()
			.filter((line) -> line.startsWith("cmdstat_" + command + ":calls="))
			.mapToLong((line) -> Long.parseLong(line.replaceAll("^\\w+:calls=(\\d+),.*", "$1")))
			.sum();
	}

	private Claim claim(String key) {
		return Claim.of(key, "owner-" + System.nanoTime(), "a", Duration.ofSeconds(30));
	}

}
