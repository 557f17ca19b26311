package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.Optional;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.redis.atomic.Atomicity;
import io.github.distributedlock.faults.Recorder.Held;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Variant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * What the server did, and nobody heard of it, or not in time.
 */
@Tag("faults")
class ReplyFaultsTests {

	/** A key that nobody else asks for. */
	private static final String FREE = "free";

	/** So long that what is cleaned up is told from what has run out. */
	private static final Duration LONG_LEASE = Trial.LEASE.multipliedBy(10);

	private static final Duration LONG_ENOUGH = Trial.COMMAND_TIMEOUT.multipliedBy(4);

	@EachClient
	void theReplyOfAnAcquireIsLost(Client client) throws Exception {
		row("reply of acquire lost", client).run((trial) -> {
			Trap trap = trial.set(Trap.loseReply(Step.ACQUIRE, FREE));
			assertThat(acquired(trial, LONG_ENOUGH)).as("acquired by the next attempt").isTrue();
			trap.awaitDone();
		});
	}

	@EachClient
	void theReplyOfTheOnlyAttemptToAcquireIsLost(Client client) throws Exception {
		row("reply of acquire lost, no time to ask again", client).run((trial) -> {
			Trap trap = trial.set(Trap.loseReply(Step.ACQUIRE, FREE));
			assertThat(acquired(trial, Duration.ZERO)).isFalse();
			trap.awaitDone();
			trial.measureOrphans(FREE);
		});
	}

	@EachClient
	void aProxyFailsAnAcquireThatWasCarriedOut(Client client) throws Exception {
		row("proxy's error instead of the reply of acquire", client).run((trial) -> {
			Trap trap = trial.set(Trap.failReply(Step.ACQUIRE, FREE));
			assertThat(acquired(trial, Duration.ZERO)).isFalse();
			trap.awaitDone();
			trial.measureOrphans(FREE);
		});
	}

	@EachClient
	void aProxyFailsAReleaseThatWasCarriedOut(Client client) throws Exception {
		row("proxy's error instead of the reply of release", client).run((trial) -> {
			Trap trap = trial.set(Trap.failReply(Step.RELEASE, FREE));
			assertThat(acquired(trial, Duration.ZERO)).isTrue();
			trap.awaitDone();
			trial.measureOrphans(FREE);
		});
	}

	@EachClient
	void theReplyOfARenewalIsLost(Client client) throws Exception {
		row("reply of renew lost", client)
			.run((trial) -> trial.set(Trap.loseReply(Step.RENEW, Workload.LONG)).awaitDone());
	}

	@EachClient
	void theReplyOfAReleaseIsLost(Client client) throws Exception {
		row("reply of release lost", client).run((trial) -> {
			Trap trap = trial.set(Trap.loseReply(Step.RELEASE, FREE));
			assertThat(acquired(trial, Duration.ZERO)).isTrue();
			trap.awaitDone();
			trial.measureOrphans(FREE);
		});
	}

	@EachClient
	void anAcquireIsCarriedOutAfterItsCallerHasGivenUp(Client client) throws Exception {
		row("acquire executed late", client).run((trial) -> {
			Trap trap = trial.set(Trap.delay(Step.ACQUIRE, FREE, Trial.COMMAND_TIMEOUT.multipliedBy(3)));
			assertThat(acquired(trial, Duration.ZERO)).isFalse();
			trap.awaitDone();
			trial.measureOrphans(FREE);
		});
	}

	@EachClient
	void anAcquireIsCarriedOutAfterItsCallerHasGivenTheLockBack(Client client) throws Exception {
		row("acquire executed late, after its caller's next attempt and release", client).run((trial) -> {
			Trap trap = trial.set(Trap.delay(Step.ACQUIRE, FREE, Trial.COMMAND_TIMEOUT.multipliedBy(3)));
			assertThat(acquired(trial, LONG_ENOUGH)).as("acquired by the next attempt").isTrue();
			trap.awaitDone();
			trial.measureOrphans(FREE);
		});
	}

	@EachClient
	void theConnectionIsCutBeforeTheReplyOfAnAcquire(Client client) throws Exception {
		row("connection cut before the reply of acquire", client).run((trial) -> {
			Trap trap = trial.set(Trap.cutReply(Step.ACQUIRE, FREE));
			assertThat(acquired(trial, LONG_ENOUGH)).as("acquired by the next attempt").isTrue();
			if (Variant.ATOMICITY != Atomicity.NATIVE) { // Whose next attempt is
															// the same command.
				assertThat(trap.repetitions()).as("sent again by the driver").isZero();
			}
		});
	}

	@EachClient
	void theConnectionIsCutBeforeTheReplyOfARenewal(Client client) throws Exception {
		row("connection cut before the reply of renew", client)
			.run((trial) -> trial.set(Trap.cutReply(Step.RENEW, Workload.LONG)).awaitDone());
	}

	@EachClient
	void theConnectionIsCutBeforeTheReplyOfARelease(Client client) throws Exception {
		row("connection cut before the reply of release", client).run((trial) -> {
			Trap trap = trial.set(Trap.cutReply(Step.RELEASE, FREE));
			assertThat(acquired(trial, Duration.ZERO)).isTrue();
			trap.awaitDone();
			trial.measureOrphans(FREE);
		});
	}

	@Test
	void theDriverSendsAnAcquireAgain() throws Exception {
		row("driver replays acquire, on the application's connections", Client.LETTUCE).sharing().run((trial) -> {
			Trap trap = trial.set(Trap.cutReply(Step.ACQUIRE, FREE));
			assertThat(acquired(trial, Duration.ZERO)).as("its own value recognised").isTrue();
			assertThat(trap.repetitions()).as("sent again by the driver").isOne();
			trial.measureOrphans(FREE);
		});
	}

	private static FaultRow row(String fault, Client client) {
		assumeThat(Variant.ATOMICITY).as("which steps can be told from a single request")
			.isIn(Atomicity.AUTO, Atomicity.LUA, Atomicity.NATIVE);
		return FaultRow.of(fault, client).relayed().promising(Promise.NOTHING_LOST);
	}

	/** Acquires the free key, and gives it back. */
	private static boolean acquired(Trial trial, Duration waitTime) {
		Optional<Held> held = trial.recorder()
			.acquire(trial.holder().engine(), LockRequest.of(FREE).waitTime(waitTime).leaseTime(LONG_LEASE));
		held.ifPresent(Held::close);
		return held.isPresent();
	}

}
