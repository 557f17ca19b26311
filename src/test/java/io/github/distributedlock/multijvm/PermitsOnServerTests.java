package io.github.distributedlock.multijvm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.tck.History;
import io.github.distributedlock.tck.History.Hold;
import io.github.distributedlock.tck.HistoryChecker;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three JVMs, each with four threads that share three permits and one that wants the lock
 * alone: never more than three hold it, three do, and nobody is kept out.
 */
class PermitsOnServerTests {

	private static final Duration DURATION = Duration.ofSeconds(2);

	private static final List<Client> CLIENTS = List.of(Client.JEDIS, Client.LETTUCE, Client.JEDIS);

	@TempDir
	private Path directory;

	static Stream<String> servers() {
		return RedisServers.names();
	}

	@ParameterizedTest
	@MethodSource("servers")
	void noMoreHoldTheLockThanThereArePermits(String name) {
		List<JvmProcess> processes = new ArrayList<>();
		try (RedisServers.Server server = RedisServers.start(name)) {
			for (int i = 0; i < CLIENTS.size(); i++) {
				processes.add(JvmProcess.start(Limited.class, CLIENTS.get(i).name(), String.valueOf(server.port()),
						DURATION.toString(), file("together", i).toString(), file("alone", i).toString()));
			}
			processes.forEach((process) -> process.awaitLine("ready"));
			processes.forEach((process) -> process.send("go"));
			List<Long> held = processes.stream()
				.map((process) -> Long.valueOf(process.awaitLineAfter("held ")))
				.toList();
			List<List<Hold>> histories = histories("together");
			List<Hold> together = histories.stream().flatMap(List::stream).toList();
			List<Hold> alone = histories("alone").stream().flatMap(List::stream).toList();
			System.out.printf("Permits on %s: in %d s held %s times by JVM, %d of these alone%n", name,
					DURATION.toSeconds(), held, alone.size());
			HistoryChecker.assertAtMost(Limited.PERMITS, together);
			HistoryChecker.assertExclusive(alone);
			HistoryChecker.assertApart(together, alone);
			assertThat(HistoryChecker.mostTogether(together)).as("all permits").hasSize(Limited.PERMITS);
			assertThat(histories).as("by JVM").allMatch((holds) -> holds.size() >= 4 * Limited.LEAST);
		}
		finally {
			processes.forEach(JvmProcess::close);
		}
	}

	private Path file(String who, int process) {
		return this.directory.resolve(who + "-" + process);
	}

	private List<List<Hold>> histories(String who) {
		return IntStream.range(0, CLIENTS.size()).mapToObj((process) -> History.read(file(who, process))).toList();
	}

}
