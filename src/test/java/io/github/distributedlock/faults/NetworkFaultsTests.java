package io.github.distributedlock.faults;

import java.io.IOException;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Machine;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.Variant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

/**
 * Packets that are lost between the members and the server, without a word to anybody.
 * Skipped where no network namespace can be added.
 */
@Tag("faults")
class NetworkFaultsTests {

	/**
	 * A lease so short that no more than one attempt to renew fails. A second one would
	 * fail only after the command timeout, since a lost packet that opens a connection is
	 * not sent again for a second: a third of the lease and two time-outs leave no time
	 * for a third.
	 */
	private static final Duration SHORT = Trial.LEASE.dividedBy(4);

	private static final int PING_MILLIS = 100;

	private static final Duration LONG = Trial.LEASE.multipliedBy(3).dividedBy(2);

	@ParameterizedTest
	@EnumSource
	void whatTheServerSendsIsLostForLessThanTheLease(Client client) throws Exception {
		partition("packets from the server dropped for 0.25 leases", client, Promise.NOTHING_LOST,
				Machine::loseWhatItSends, SHORT);
	}

	@ParameterizedTest
	@EnumSource
	void whatTheServerSendsIsLostForLongerThanTheLease(Client client) throws Exception {
		partition("packets from the server dropped for 1.5 leases", client, Promise.WHOLE, Machine::loseWhatItSends,
				LONG);
	}

	@ParameterizedTest
	@EnumSource
	void whatIsSentToTheServerIsLostForLongerThanTheLease(Client client) throws Exception {
		partition("packets to the server dropped for 1.5 leases", client, Promise.WHOLE, Machine::loseWhatIsSentTo,
				LONG);
	}

	@ParameterizedTest
	@EnumSource
	void whatEitherSendsIsLostForLongerThanTheLease(Client client) throws Exception {
		partition("packets in both directions dropped for 1.5 leases", client, Promise.WHOLE, (machine) -> {
			machine.loseWhatItSends();
			machine.loseWhatIsSentTo();
		}, LONG);
	}

	@ParameterizedTest
	@EnumSource
	void theServersMachineIsReplaced(Client client) throws Exception {
		try (Machine machine = machine()) {
			FaultRow.of("the server's machine fails and comes back, its connections forgotten", client)
				.on(() -> on(machine, "appendonly yes", "appendfsync always"))
				.run((trial) -> {
					machine.loseWhatItSends();
					trial.server().kill();
					machine.replace();
					trial.server().start();
					HandOverCheck.assertHandedOver(trial);
					trial.admin((redis) -> await("wake-ups arrive again")
						.until(() -> redis.pubsubChannels("lock-wake:*").size() == 2));
				});
		}
	}

	private static void partition(String fault, Client client, Promise promise, Consumer<Machine> lose, Duration time)
			throws Exception {
		try (Machine machine = machine()) {
			FaultRow.of(fault, client).on(() -> on(machine)).promising(promise).run((trial) -> {
				trial.breakFor(time, () -> {
					lose.accept(machine);
					assertCutOff(trial);
				}, machine::heal);
			});
		}
	}

	private static void assertCutOff(Trial trial) {
		assertThatExceptionOfType(JedisConnectionException.class).isThrownBy(() -> {
			try (Jedis connection = new Jedis(trial.server().host(), trial.server().port(), PING_MILLIS)) {
				connection.ping();
			}
		});
	}

	// Newer servers are protected wherever others can reach them.
	private static Deployment on(Machine machine, String... settings) {
		String[] all = Stream.concat(Stream.of("protected-mode no"), Stream.of(settings)).toArray(String[]::new);
		return Deployment.of(RedisServers.start(Variant.SERVER, machine.site(), all));
	}

	private static Machine machine() {
		try {
			return Machine.add();
		}
		catch (IOException ex) {
			assumeThat(ex).as("why no network namespace can be added").isNull();
			throw new IllegalStateException(ex);
		}
	}

}
