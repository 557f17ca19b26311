package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.redis.Atomicity;
import io.github.distributedlock.faults.Recorder.Held;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Variant;
import org.junit.jupiter.api.Tag;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * Steps that the server has done although no reply arrives, or none in time.
 */
@Tag("faults")
class ReplyFaultsTests {

	/** A key that nobody else asks for. */
	private static final String FREE = "free";

	/** Long enough that a lock that was cleaned up is told from one that has run out. */
	private static final Duration LONG_LEASE = Trial.LEASE.multipliedBy(10);

	private static final Duration LATE = Trial.COMMAND_TIMEOUT.multipliedBy(3);

	@EachClient
	void theReplyOfAnAcquireIsLost(Client client) throws Exception {
		assertAcquired("reply of acquire lost", client, () -> Trap.loseReply(Step.ACQUIRE, FREE));
	}

	@EachClient
	void theReplyOfTheOnlyAttemptToAcquireIsLost(Client client) throws Exception {
		assertNotAcquired("reply of acquire lost, no time to ask again", client,
				() -> Trap.loseReply(Step.ACQUIRE, FREE));
	}

	@EachClient
	void aProxyFailsAnAcquireThatWasCarriedOut(Client client) throws Exception {
		assertNotAcquired("proxy's error instead of the reply of acquire", client,
				() -> Trap.failReply(Step.ACQUIRE, FREE));
	}

	@EachClient
	void aProxyFailsAReleaseThatWasCarriedOut(Client client) throws Exception {
		assertAcquired("proxy's error instead of the reply of release", client,
				() -> Trap.failReply(Step.RELEASE, FREE));
	}

	@EachClient
	void theReplyOfARenewalIsLost(Client client) throws Exception {
		row("reply of renew lost", client)
			.run((trial) -> trial.set(Trap.loseReply(Step.RENEW, Workload.LONG)).awaitDone());
	}

	@EachClient
	void theReplyOfAReleaseIsLost(Client client) throws Exception {
		assertAcquired("reply of release lost", client, () -> Trap.loseReply(Step.RELEASE, FREE));
	}

	@EachClient
	void anAcquireIsCarriedOutAfterItsCallerHasGivenUp(Client client) throws Exception {
		assertNotAcquired("acquire executed late", client, () -> Trap.delay(Step.ACQUIRE, FREE, LATE));
	}

	@EachClient
	void anAcquireIsCarriedOutAfterItsCallerHasGivenTheLockBack(Client client) throws Exception {
		assertAcquired("acquire executed late, after its caller's next attempt and release", client,
				() -> Trap.delay(Step.ACQUIRE, FREE, LATE));
	}

	@EachClient
	void theConnectionIsCutBeforeTheReplyOfAnAcquire(Client client) throws Exception {
		row("connection cut before the reply of acquire", client).run((trial) -> {
			Trap trap = trial.set(Trap.cutReply(Step.ACQUIRE, FREE));
			assertThat(acquired(trial, Workload.PATIENCE)).as("acquired by the next attempt").isTrue();
			// The next attempt of NATIVE is the same command.
			if (Variant.ATOMICITY != Atomicity.NATIVE) {
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
		assertAcquired("connection cut before the reply of release", client, () -> Trap.cutReply(Step.RELEASE, FREE));
	}

	/** The first attempt or one of the next gets the lock. */
	private static void assertAcquired(String fault, Client client, Supplier<Trap> trap) throws Exception {
		assertCleanedUp(fault, client, trap, Workload.PATIENCE, true);
	}

	private static void assertNotAcquired(String fault, Client client, Supplier<Trap> trap) throws Exception {
		assertCleanedUp(fault, client, trap, Duration.ZERO, false);
	}

	private static void assertCleanedUp(String fault, Client client, Supplier<Trap> trap, Duration waitTime,
			boolean acquired) throws Exception {
		row(fault, client).run((trial) -> {
			Trap one = trial.set(trap.get());
			assertThat(acquired(trial, waitTime)).as("acquired").isEqualTo(acquired);
			one.awaitDone();
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
