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
import io.github.distributedlock.multijvm.TogetherAndAlone.Together;
import io.github.distributedlock.tck.History;
import io.github.distributedlock.tck.History.Hold;
import io.github.distributedlock.tck.HistoryChecker;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three JVMs, each with four threads that have a lock together, as readers or by three
 * permits, and one that has it alone: never are more of them together than may be, they
 * are together, and nobody is kept out.
 */
class TogetherAndAloneTests {

	private static final Duration DURATION = Duration.ofSeconds(2);

	private static final List<Client> CLIENTS = List.of(Client.JEDIS, Client.LETTUCE, Client.JEDIS);

	@TempDir
	private Path directory;

	static Stream<Arguments> cases() {
		return Stream.concat(Stream.of(Arguments.of(Together.READERS, RedisServers.EMBEDDED)),
				RedisServers.names().map((name) -> Arguments.of(Together.PERMITS, name)));
	}

	@ParameterizedTest
	@MethodSource("cases")
	void thoseTogetherAreNeverThereWithOneAlone(Together how, String name) {
		List<JvmProcess> processes = new ArrayList<>();
		try (RedisServers.Server server = RedisServers.start(name); Jedis numbers = server.admin()) {
			numbers.set(TogetherAndAlone.KEY, "0");
			for (int i = 0; i < CLIENTS.size(); i++) {
				processes.add(JvmProcess.start(TogetherAndAlone.class, how.name(), CLIENTS.get(i).name(),
						String.valueOf(server.port()), DURATION.toString(), file("together", i).toString(),
						file("alone", i).toString()));
			}
			processes.forEach((process) -> process.awaitLine("ready"));
			processes.forEach((process) -> process.send("go"));
			List<Long> written = processes.stream()
				.map((process) -> Long.valueOf(process.awaitLineAfter("wrote ")))
				.toList();
			List<List<Hold>> read = histories("together");
			List<Hold> together = read.stream().flatMap(List::stream).toList();
			List<Hold> alone = histories("alone").stream().flatMap(List::stream).toList();
			System.out.printf("%s on %s: in %d s read %s and written %s times by JVM%n", how, name,
					DURATION.toSeconds(), read.stream().map(List::size).toList(), written);
			HistoryChecker.assertExclusive(alone);
			HistoryChecker.assertApart(together, alone);
			if (how == Together.PERMITS) {
				HistoryChecker.assertAtMost(TogetherAndAlone.PERMITS, together);
				assertThat(HistoryChecker.mostTogether(together)).as("all permits").hasSize(TogetherAndAlone.PERMITS);
			}
			assertThat(HistoryChecker.overlaps(together)).as("several JVMs together")
				.anyMatch((overlap) -> !instance(overlap.first()).equals(instance(overlap.second())));
			assertThat(numbers.get(TogetherAndAlone.KEY)).as("the number")
				.isEqualTo(String.valueOf(written.stream().mapToLong(Long::longValue).sum()));
			assertThat(written).as("written, by JVM").allMatch((count) -> count >= TogetherAndAlone.LEAST);
			assertThat(read).as("read, by JVM")
				.allMatch((holds) -> holds.size() >= TogetherAndAlone.READERS * TogetherAndAlone.LEAST);
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

	private static String instance(Hold hold) {
		return hold.owner().substring(0, hold.owner().indexOf(':'));
	}

}
