package io.github.distributedlock.faults;

import java.time.Duration;

import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Tag;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientPauseMode;
import redis.clients.jedis.exceptions.JedisDataException;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A server that does not do what it should for a while.
 */
@Tag("faults")
class ServerFaultsTests {

	private static final Duration SHORT = Trial.LEASE.multipliedBy(2).dividedBy(5);

	private static final Duration LONG = Trial.LEASE.multipliedBy(3).dividedBy(2);

	@EachClient
	void nothingHappens(Client client) throws Exception {
		FaultRow.of("none, to compare with", client).promising(Promise.NOTHING_LOST).run((trial) -> {
		});
	}

	@EachClient
	void itStandsStillForLessThanTheLease(Client client) throws Exception {
		FaultRow.of("server stopped for 0.4 leases", client)
			.promising(Promise.NOTHING_LOST)
			.run((trial) -> stop(trial, SHORT));
	}

	@EachClient
	void itStandsStillForLongerThanTheLease(Client client) throws Exception {
		FaultRow.of("server stopped for 1.5 leases", client).run((trial) -> stop(trial, LONG));
	}

	@EachClient
	void itIsKilledAndHasItsFile(Client client) throws Exception {
		FaultRow.of("server killed, AOF with appendfsync always", client)
			.on(() -> Deployment.standalone("appendonly yes", "appendfsync always"))
			.run(ServerFaultsTests::kill);
	}

	@EachClient
	void itIsKilledAndForgetsAll(Client client) throws Exception {
		FaultRow.of("server killed, no AOF", client).promising(Promise.SERVER_FORGETS).run(ServerFaultsTests::kill);
	}

	@EachClient
	void writesArePausedForLessThanTheLease(Client client) throws Exception {
		FaultRow.of("CLIENT PAUSE WRITE for 0.4 leases", client)
			.promising(Promise.NOTHING_LOST)
			.run((trial) -> pauseWrites(trial, SHORT));
	}

	@EachClient
	void writesArePausedForLongerThanTheLease(Client client) throws Exception {
		FaultRow.of("CLIENT PAUSE WRITE for 1.5 leases", client).run((trial) -> pauseWrites(trial, LONG));
	}

	@EachClient
	void itForgetsTheScripts(Client client) throws Exception {
		FaultRow.of("SCRIPT FLUSH, ten times", client).promising(Promise.NOTHING_LOST).run((trial) -> {
			for (int i = 0; i < 10; i++) {
				trial.admin(Jedis::scriptFlush);
				Thread.sleep(20);
			}
		});
	}

	@EachClient
	void aScriptKeepsItBusy(Client client) throws Exception {
		FaultRow.of("BUSY script for 0.4 leases", client)
			.on(() -> Deployment.standalone("lua-time-limit 50"))
			.promising(Promise.NOTHING_LOST)
			.run(ServerFaultsTests::runEndlessScript);
	}

	private static void stop(Trial trial, Duration time) throws InterruptedException {
		trial.breakFor(time, trial.server()::pause, trial.server()::resume);
	}

	private static void kill(Trial trial) {
		trial.server().kill();
		trial.server().start();
		// From now on the server answers, so from now on the loss can be noticed.
		trial.recorder().strikes();
	}

	private static void pauseWrites(Trial trial, Duration time) throws InterruptedException {
		trial.admin((redis) -> redis.clientPause(time.toMillis(), ClientPauseMode.WRITE));
		Thread.sleep(time.toMillis());
	}

	private static boolean isBusy(Jedis redis) {
		try {
			redis.ping();
			return false;
		}
		catch (JedisDataException ex) {
			return true;
		}
	}

	private static void runEndlessScript(Trial trial) throws InterruptedException {
		Thread script = new Thread(() -> trial.admin((redis) -> assertThatExceptionOfType(JedisDataException.class)
			.isThrownBy(() -> redis.eval("while true do end"))), "endless-script");
		try (Jedis killer = trial.server().admin()) {
			killer.ping();
			script.start();
			await("the script keeps the server busy").until(() -> isBusy(killer));
			Thread.sleep(SHORT.toMillis());
			killer.scriptKill();
			Patience.join(script);
		}
	}

}
