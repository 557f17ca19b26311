package io.github.distributedlock.faults;

import java.time.Duration;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.fixtures.Client;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Clocks that jump: the server's, and that of a machine that was suspended.
 */
@Tag("faults")
class ClockFaultsTests {

	/** A key that nobody else asks for. */
	private static final String OWN = "own";

	private static final Duration STEP = Duration.ofMinutes(1);

	@ParameterizedTest
	@EnumSource
	void theServersClockJumpsAhead(Client client) throws Exception {
		try (ServerClock clock = ServerClock.make()) {
			FaultRow.of("server's clock 60 s forward", client)
				.on(() -> Deployment.of(clock.start()))
				.promising(Promise.SERVER_FORGETS
					.withRemark("all leases end at once on the server: overlap possible until the next renewal"))
				.run((trial) -> {
					clock.set(STEP);
					trial.awaitKeyMissed();
				});
		}
	}

	@ParameterizedTest
	@EnumSource
	void theServersClockJumpsBack(Client client) throws Exception {
		try (ServerClock clock = ServerClock.make()) {
			FaultRow.of("server's clock 60 s back", client)
				.on(() -> Deployment.of(clock.start()))
				.promising(Promise.NOTHING_LOST
					.withRemark("a lock that is not released any more stays for its lease and 60 s"))
				.run((trial) -> {
					LockRequest request = LockRequest.of(OWN).leaseTime(Trial.LEASE);
					LockHandle left = trial.holder().engine().acquire(request);
					clock.set(STEP.negated());
					await("the lease is over in this JVM").until(() -> !left.isHeld());
					trial.admin((redis) -> {
						assertThat(redis.pttl("lock:{" + OWN + "}")).as("milliseconds left on the server")
							.isGreaterThan(STEP.toMillis() / 2);
						redis.del("lock:{" + OWN + "}");
					});
					left.close();
				});
		}
	}

	@ParameterizedTest
	@EnumSource
	void theServersClockJumpsBackAsAFairWaiterDies(Client client) throws Exception {
		try (ServerClock clock = ServerClock.make()) {
			FaultRow.of("JVM of a fair waiter killed, and the server's clock 1 h back", client)
				.on(() -> Deployment.of(clock.start()))
				.promising(Promise.NOTHING_LOST)
				.run((trial) -> {
					LockRequest fair = LockRequest.of(OWN).fair(true).waitTime(Workload.PATIENCE);
					LockHandle held = trial.holder().engine().acquire(fair);
					try (RecordedWaiter waiter = RecordedWaiter.of(OWN, client, trial.server().port(),
							trial.recorder().another(), Trial.LEASE, true)) {
						waiter.request();
						trial.admin((redis) -> await("a ticket").until(() -> redis.zcard("lock-waiters:{own}") == 1));
						waiter.process().kill();
						clock.set(STEP.multipliedBy(60).negated());
						held.close();
						trial.rival().engine().acquire(fair).close();
					}
				});
		}
	}

	@Test
	void theMachineWasSuspended() throws Exception {
		FaultRow.of("machine suspended until the lease was over", Client.JEDIS)
			.promising(Promise.SERVER_FORGETS
				.withRemark("the lease ran out meanwhile: overlap possible until it is resumed and renews;"
						+ " `isHeld()` knows at once"))
			.run((trial) -> {
				LockHandle own = trial.holder().engine().acquire(OWN);
				trial.admin((redis) -> redis.del("lock:{" + OWN + "}", "lock:{" + Workload.LONG + "}"));
				trial.holder().wallClock().advance(STEP);
				assertThat(own.isHeld()).isFalse();
				trial.awaitLoss();
				own.close();
			});
	}

	@Test
	void theWallClockIsSetAhead() throws Exception {
		FaultRow.of("wall clock set ahead, as if the machine had been suspended", Client.LETTUCE).run((trial) -> {
			LockHandle renewed = trial.holder().engine().acquire(OWN);
			LockHandle fixed = trial.holder().engine().acquire(LockRequest.of("fixed").leaseTime(STEP.dividedBy(2)));
			trial.holder().wallClock().advance(STEP);
			assertThat(fixed.isHeld()).as("held without being renewed").isFalse();
			// A holder that asks before the next renewal is told that the lock is lost.
			Thread.sleep(Trial.LEASE.toMillis());
			assertThat(renewed.isHeld()).as("held, as confirmed by a renewal").isTrue();
			renewed.close();
			fixed.close();
			trial.admin((redis) -> redis.del("lock:{fixed}"));
		});
	}

}
