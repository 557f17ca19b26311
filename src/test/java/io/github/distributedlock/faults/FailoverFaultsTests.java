package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers.Server;
import io.github.distributedlock.fixtures.Variant;
import org.junit.jupiter.api.Tag;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A master dies, and a replica becomes the master. Locks that the replica had not heard
 * of are forgotten; the rest goes on.
 */
@Tag("faults")
class FailoverFaultsTests {

	private static final int REPLICAS = 2;

	private static final Duration PATIENCE = Patience.PATIENCE;

	private static final Pattern STEP = Pattern.compile("cmdstat_(?:set|eval|evalsha):calls=(\\d+)");

	private static final Promise PROMISE = Promise.SERVER_FORGETS
		.withRemark("what the replica had not heard of is forgotten: overlap possible until the new master is asked");

	@EachClient
	void aFailoverIsAskedFor(Client client) throws Exception {
		sentinels("Sentinel failover, planned", client).promising(Promise.TWO_MASTERS).run((trial) -> {
			Server master = trial.server();
			// The old master never follows the new one, and takes writes of whoever asks.
			trial.admin((redis) -> redis.aclSetUser("default", "-slaveof", "-replicaof"));
			trial.failOver();
			awaitAnother(trial, master);
			try (Jedis old = master.admin()) {
				awaitQuiet(old);
				assertThat(old.role().get(0)).isEqualTo("master");
			}
		});
	}

	private static void awaitQuiet(Jedis master) {
		AtomicLong last = new AtomicLong(-1);
		AtomicInteger quiet = new AtomicInteger();
		await("nobody takes locks at the old one").pollInterval(Duration.ofSeconds(1)).atMost(PATIENCE).until(() -> {
			long steps = STEP.matcher(master.info("commandstats"))
				.results()
				.mapToLong((step) -> Long.parseLong(step.group(1)))
				.sum();
			return ((last.getAndSet(steps) == steps) ? quiet.incrementAndGet() : quiet.getAndSet(0)) >= 3;
		});
	}

	@EachClient
	void theMasterDies(Client client) throws Exception {
		sentinels("Sentinel failover, master killed", client).run((trial) -> {
			Server master = trial.server();
			master.kill();
			awaitAnother(trial, master);
		});
	}

	@EachClient
	void theMasterDiesWhileTwoHavePermits(Client client) throws Exception {
		assumeTrue(Variant.isByScripts(), "needs scripts");
		sentinels("Sentinel failover, master killed, 2 holders with permits", client).run((trial) -> {
			Server master = trial.server();
			LockHandle one = trial.holder().engine().acquire(PermitFaultsTests.CALL);
			try (LockHandle two = trial.rival().engine().acquire(PermitFaultsTests.CALL)) {
				trial.admin((redis) -> redis.waitReplicas(REPLICAS, PATIENCE.toMillis()));
				master.kill();
				awaitAnother(trial, master);
				one.close();
				try (LockHandle next = trial.rival().engine().acquire(PermitFaultsTests.CALL)) {
					Optional<LockHandle> more = trial.rival()
						.engine()
						.tryAcquire(PermitFaultsTests.CALL.waitTime(Duration.ZERO));
					assertThat(more.isPresent() && two.isHeld() && next.isHeld()).as("three held with two permits")
						.isFalse();
					more.ifPresent(LockHandle::close);
				}
			}
		});
	}

	@EachClient
	void theMasterIsStopped(Client client) throws Exception {
		// Once resumed, the old master takes writes until Sentinels demote it.
		sentinels("Sentinel failover, master stopped, and resumed after it", client).promising(Promise.TWO_MASTERS)
			.run((trial) -> {
				Server master = trial.server();
				master.pause();
				awaitAnother(trial, master);
				master.resume();
			});
	}

	@EachClient
	void theMasterDiesAndReplicasAcknowledge(Client client) throws Exception {
		FaultRow.of("Sentinel failover, master killed, replicas-to-ack 1", client)
			.mixed()
			.on(() -> Deployment.sentinels(REPLICAS).acknowledgedBy(1))
			.promising(PROMISE)
			.run((trial) -> {
				Server master = trial.server();
				master.kill();
				awaitAnother(trial, master);
			});
	}

	@EachClient
	void aReplicaTakesOverInACluster(Client client) throws Exception {
		assumeTrue(Variant.isByScripts(), "needs a cluster");
		FaultRow.of("CLUSTER FAILOVER", client).mixed().on(Deployment::cluster).run((trial) -> {
			Server master = trial.server();
			trial.failOver();
			awaitAnother(trial, master);
		});
	}

	private static FaultRow sentinels(String fault, Client client) {
		return FaultRow.of(fault, client).mixed().on(() -> Deployment.sentinels(REPLICAS)).promising(PROMISE);
	}

	private static void awaitAnother(Trial trial, Server master) {
		await("another master").atMost(PATIENCE).until(() -> trial.server() != master);
		await("the other master takes writes").atMost(PATIENCE).until(() -> {
			try {
				trial.admin((redis) -> redis.set("any", "thing"));
				return true;
			}
			catch (JedisException ex) {
				return false;
			}
		});
		trial.recorder().strikes();
	}

}
