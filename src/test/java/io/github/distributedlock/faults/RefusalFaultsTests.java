package io.github.distributedlock.faults;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.redis.Atomicity;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Variant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

import org.springframework.util.FileSystemUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A server that answers, but refuses.
 */
@Tag("faults")
class RefusalFaultsTests {

	/** A key that nobody else asks for. */
	private static final String FREE = "free";

	private static final Duration SHORT = Trial.LEASE.multipliedBy(2).dividedBy(5);

	private static final Duration LONG = Trial.LEASE.multipliedBy(3).dividedBy(2);

	/** Nobody listens there, so that the server keeps what it has. */
	private static final int NO_MASTER = 1;

	@ParameterizedTest
	@EnumSource
	void itIsAReplicaForLessThanTheLease(Client client) throws Exception {
		FaultRow.of("READONLY (REPLICAOF) for 0.4 leases", client)
			.promising(Promise.NOTHING_LOST)
			.run((trial) -> replicate(trial, SHORT));
	}

	@ParameterizedTest
	@EnumSource
	void itIsAReplicaForLongerThanTheLease(Client client) throws Exception {
		FaultRow.of("READONLY (REPLICAOF) for 1.5 leases", client).run((trial) -> replicate(trial, LONG));
	}

	@ParameterizedTest
	@EnumSource
	void itHasNoMemoryLeft(Client client) throws Exception {
		// Only a script may go on where there is no memory: SET and transactions are
		// refused.
		Promise promise = Variant.isByScripts() ? Promise.NOTHING_LOST : Promise.WHOLE;
		FaultRow.of("OOM with noeviction for 1.5 leases", client).promising(promise).run((trial) -> {
			LockHandle held = trial.holder().engine().acquire("given-back");
			config(trial, "maxmemory", "1");
			held.close();
			// In a transaction a full server deletes nothing.
			if (Variant.ATOMICITY != Atomicity.TRANSACTION) {
				trial.admin((redis) -> assertThat(redis.get("lock:{given-back}")).as("given back").isNull());
			}
			assertRefused(trial, "OOM");
			Thread.sleep(LONG.toMillis());
			config(trial, "maxmemory", "0");
		});
	}

	@Test
	void itCannotSaveForLessThanTheLease() throws Exception {
		FaultRow.of("MISCONF for 0.4 leases", Client.JEDIS)
			.on(() -> Deployment.standalone("save 3600 1000000"))
			.promising(Promise.NOTHING_LOST)
			.run((trial) -> failToSave(trial, SHORT));
	}

	@Test
	void itCannotSaveForLongerThanTheLease() throws Exception {
		FaultRow.of("MISCONF for 1.5 leases", Client.JEDIS)
			.on(() -> Deployment.standalone("save 3600 1000000"))
			.run((trial) -> failToSave(trial, LONG));
	}

	@Test
	void itMissesReplicasForLessThanTheLease() throws Exception {
		FaultRow.of("NOREPLICAS for 0.4 leases", Client.LETTUCE)
			.promising(Promise.NOTHING_LOST)
			.run((trial) -> missReplicas(trial, SHORT));
	}

	@Test
	void itMissesReplicasForLongerThanTheLease() throws Exception {
		FaultRow.of("NOREPLICAS for 1.5 leases", Client.LETTUCE).run((trial) -> missReplicas(trial, LONG));
	}

	@ParameterizedTest
	@EnumSource
	void publishingIsDenied(Client client) throws Exception {
		FaultRow.of("PUBLISH denied by ACL", client).promising(Promise.NOTHING_LOST).run((trial) -> {
			trial.admin((redis) -> redis.aclSetUser("default", "-publish"));
			HandOverCheck.assertHandedOver(trial);
			trial.admin((redis) -> redis.aclSetUser("default", "+publish"));
		});
	}

	@ParameterizedTest
	@EnumSource
	void subscribingIsDenied(Client client) throws Exception {
		FaultRow.of("SUBSCRIBE denied by ACL", client).promising(Promise.NOTHING_LOST).run((trial) -> {
			trial.admin((redis) -> {
				redis.aclSetUser("default", "-subscribe");
				redis.clientKill(new ClientKillParams().type(ClientType.PUBSUB));
			});
			HandOverCheck.assertHandedOver(trial);
		});
	}

	private static void replicate(Trial trial, Duration time) throws InterruptedException {
		trial.breakFor(time, () -> {
			trial.admin((redis) -> redis.replicaof("127.0.0.1", NO_MASTER));
			assertRefused(trial, "READONLY");
		}, () -> trial.admin(Jedis::replicaofNoOne));
	}

	private static void failToSave(Trial trial, Duration time) throws InterruptedException {
		trial.admin((redis) -> {
			delete(Path.of(redis.configGet("dir").get("dir")));
			redis.bgsave();
			await("the server failed to save").pollInterval(Duration.ofMillis(10))
				.until(() -> redis.info("persistence").contains("rdb_last_bgsave_status:err"));
		});
		trial.breakFor(time, () -> assertRefused(trial, "MISCONF"),
				() -> config(trial, "stop-writes-on-bgsave-error", "no"));
	}

	private static void missReplicas(Trial trial, Duration time) throws InterruptedException {
		trial.breakFor(time, () -> {
			config(trial, "min-replicas-to-write", "1");
			assertRefused(trial, "NOREPLICAS");
		}, () -> config(trial, "min-replicas-to-write", "0"));
	}

	/**
	 * A request is told of the refusal, not that the lock is busy. The connection may be
	 * left just then, because somebody else was told before.
	 */
	private static void assertRefused(Trial trial, String code) {
		await().pollInSameThread()
			.untilAsserted(() -> assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> trial.rival().engine().tryAcquire(LockRequest.of(FREE)))
				.withMessageContaining("'" + FREE + "'")
				.withMessageContaining(code));
	}

	private static void config(Trial trial, String setting, String value) {
		trial.admin((redis) -> redis.configSet(setting, value));
	}

	private static void delete(Path directory) {
		try {
			FileSystemUtils.deleteRecursively(directory);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
