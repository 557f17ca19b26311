package io.github.distributedlock.multijvm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.tck.History;
import io.github.distributedlock.tck.History.Hold;
import io.github.distributedlock.tck.HistoryChecker;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three JVMs, each with four readers and a writer that do nothing else: readers are
 * together, writers alone, and neither keeps the other out.
 */
class ReadersAndWritersTests {

	private static final Duration DURATION = Duration.ofSeconds(3);

	private static final List<Client> CLIENTS = List.of(Client.JEDIS, Client.LETTUCE, Client.JEDIS);

	@TempDir
	private Path directory;

	@Test
	void readersAreTogetherAndWritersAlone() {
		List<JvmProcess> processes = new ArrayList<>();
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED); Jedis numbers = server.admin()) {
			numbers.set(ReaderWriter.KEY, "0");
			for (int i = 0; i < CLIENTS.size(); i++) {
				processes.add(JvmProcess.start(ReaderWriter.class, CLIENTS.get(i).name(), String.valueOf(server.port()),
						DURATION.toString(), file("readers", i).toString(), file("writers", i).toString()));
			}
			processes.forEach((process) -> process.awaitLine("ready"));
			processes.forEach((process) -> process.send("go"));
			List<Long> written = processes.stream()
				.map((process) -> Long.valueOf(process.awaitLineAfter("wrote ")))
				.toList();
			List<List<Hold>> read = histories("readers");
			List<Hold> readers = read.stream().flatMap(List::stream).toList();
			List<Hold> writers = histories("writers").stream().flatMap(List::stream).toList();
			System.out.printf("Readers and writers: in %d s read %s and written %s times by JVM%n",
					DURATION.toSeconds(), read.stream().map(List::size).toList(), written);
			HistoryChecker.assertExclusive(writers);
			HistoryChecker.assertApart(readers, writers);
			assertThat(numbers.get(ReaderWriter.KEY)).as("the number")
				.isEqualTo(String.valueOf(written.stream().mapToLong(Long::longValue).sum()));
			assertThat(written).as("written, by JVM").allMatch((count) -> count >= ReaderWriter.LEAST);
			assertThat(read).as("read, by JVM").allMatch((holds) -> holds.size() >= 4 * ReaderWriter.LEAST);
			assertThat(HistoryChecker.overlaps(readers)).as("readers together")

				.anyMatch((overlap) -> !instance(overlap.first()).equals(instance(overlap.second())));
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
