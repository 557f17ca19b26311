package io.github.distributedlock.faults;

import java.time.Duration;

import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers.Server;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisException;

import static org.awaitility.Awaitility.await;

/**
 * A master that dies, and a replica in its place. What the replica had not heard of is
 * forgotten; the rest goes on.
 */
@Tag("faults")
class FailoverFaultsTests {

	private static final int REPLICAS = 2;

	private static final Duration PATIENCE = Patience.PATIENCE;

	private static final Promise PROMISE = Promise.SERVER_FORGETS
		.withRemark("what the replica had not heard of is forgotten: overlap possible until the next renewal");

	@Test
	void theMasterDies() throws Exception {
		FaultRow.of("Sentinel failover, master killed", Client.JEDIS)
			.on(() -> Deployment.sentinels(REPLICAS))
			.promising(PROMISE)
			.run(FailoverFaultsTests::killMaster);
	}

	@Test
	void theMasterDiesAndReplicasAcknowledge() throws Exception {
		FaultRow.of("Sentinel failover, master killed, replicas-to-ack 1", Client.LETTUCE)
			.on(() -> Deployment.sentinels(REPLICAS).acknowledgedBy(1))
			.promising(PROMISE)
			.run(FailoverFaultsTests::killMaster);
	}

	private static void killMaster(Trial trial) {
		Server master = trial.server();
		master.kill();
		await("another master").atMost(PATIENCE).until(() -> trial.server() != master);
		await("it takes writes").atMost(PATIENCE).until(() -> {
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
