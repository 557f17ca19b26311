package io.github.distributedlock.backend.redis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.distributedlock.backend.redis.internal.OwnConnections;
import io.github.distributedlock.backend.redis.internal.RedisClients;
import io.github.distributedlock.backend.redis.internal.RedisFailures;
import io.github.distributedlock.fixtures.AllowedCommands;
import io.github.distributedlock.fixtures.AtomicityCase;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.RedisServers;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.HostAndPort;

import org.springframework.dao.DataAccessResourceFailureException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The way that is chosen on each server, under each of the rules of the server's access
 * list.
 */
class AtomicitySelectorTests {

	private static final Path DOCUMENT = Path.of("src/docs/redis.md");

	private static final String NOTHING = "refused";

	static Stream<AtomicityCase> cases() {
		return AtomicityCase.onAllServers();
	}

	static Stream<String> servers() {
		return RedisServers.names();
	}

	@ParameterizedTest
	@MethodSource("cases")
	@Execution(ExecutionMode.CONCURRENT)
	void theBestThatIsAllowedIsChosen(AtomicityCase one) {
		for (Client client : Client.values()) {
			assertThat(selection(one.server(), one.rules(), one.setting(), client)).as("with %s", client)
				.isEqualTo(one.candidate());
		}
	}

	@ParameterizedTest
	@MethodSource("servers")
	@Execution(ExecutionMode.CONCURRENT)
	void theDocumentSaysWhatAutoChooses(String name) throws IOException {
		HostAndPort server = AtomicityCase.onServer(name).get(0).server();
		List<String> selected = Stream.of(AllowedCommands.values())
			.map((rules) -> selection(server, rules, Atomicity.AUTO, Client.JEDIS))
			.toList();
		String row = AtomicityTables.selection(server, selected);
		String document = Files.readString(DOCUMENT);
		assertThat(document).contains(AtomicityTables.SELECTION_HEAD);
		// The document says nothing of a server that it does not name.
		if (document.contains(row.split("(?<= \\|)", 2)[0])) {
			assertThat(document).contains(row);
		}
	}

	private static String selection(HostAndPort server, AllowedCommands rules, Atomicity setting, Client client) {
		Duration timeout = Duration.ofSeconds(10);
		OwnConnections connections = RedisClients.derive(client.connectTo(rules.login(server)), timeout);
		try {
			return new AtomicitySelector(connections,
					RedisLockSettings.defaults().commandTimeout(timeout).atomicity(setting))
				.get()
				.description();
		}
		catch (DataAccessResourceFailureException ex) {
			assertThat(RedisFailures.isNothingAllowed((RuntimeException) ex.getCause())).isTrue();
			return NOTHING;
		}
		finally {
			connections.close();
		}
	}

}
