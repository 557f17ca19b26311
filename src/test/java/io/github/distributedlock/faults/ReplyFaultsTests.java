package io.github.distributedlock.faults;

import java.time.Duration;

import io.github.distributedlock.test.Client;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What the server did, and nobody heard of it, or not in time.
 */
class ReplyFaultsTests {

	@ParameterizedTest
	@EnumSource
	void theReplyOfAnAcquireIsLost(Client client) throws Exception {
		FaultRow.of("reply of acquire lost", client)
			.relayed()
			.run((trial) -> trial.relay().loseReply(Step.ACQUIRE, Workload.SHORT).awaitDone());
	}

	@ParameterizedTest
	@EnumSource
	void theReplyOfARenewalIsLost(Client client) throws Exception {
		FaultRow.of("reply of renew lost", client)
			.relayed()
			.run((trial) -> trial.relay().loseReply(Step.RENEW, Workload.LONG).awaitDone());
	}

	@ParameterizedTest
	@EnumSource
	void theReplyOfAReleaseIsLost(Client client) throws Exception {
		FaultRow.of("reply of release lost", client)
			.relayed()
			.run((trial) -> trial.relay().loseReply(Step.RELEASE, Workload.SHORT).awaitDone());
	}

	@ParameterizedTest
	@EnumSource
	void anAcquireIsCarriedOutAfterItsCallerHasGivenUp(Client client) throws Exception {
		Duration late = Trial.COMMAND_TIMEOUT.multipliedBy(3);
		FaultRow.of("acquire executed late", client)
			.relayed()
			.run((trial) -> trial.relay().delay(Step.ACQUIRE, Workload.SHORT, late).awaitDone());
	}

}
