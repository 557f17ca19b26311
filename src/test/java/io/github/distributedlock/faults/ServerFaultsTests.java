package io.github.distributedlock.faults;

import io.github.distributedlock.test.Client;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.args.ClientPauseMode;

/**
 * A server that does not do what it should for a while.
 */
class ServerFaultsTests {

	@ParameterizedTest
	@EnumSource
	void writesArePausedForLessThanTheLease(Client client) throws Exception {
		FaultRow.of("CLIENT PAUSE WRITE for half a lease", client)
			.run((trial) -> trial.admin((redis) -> redis.clientPause(500, ClientPauseMode.WRITE)));
	}

	@ParameterizedTest
	@EnumSource
	void writesArePausedForLongerThanTheLease(Client client) throws Exception {
		FaultRow.of("CLIENT PAUSE WRITE for 1.5 leases", client)
			.run((trial) -> trial.admin((redis) -> redis.clientPause(1_500, ClientPauseMode.WRITE)));
	}

}
