package io.github.distributedlock.exclusion;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.github.distributedlock.test.Client;
import io.github.distributedlock.test.History;
import io.github.distributedlock.test.History.Hold;
import io.github.distributedlock.test.HistoryChecker;
import io.github.distributedlock.test.JvmProcess;
import io.github.distributedlock.test.RedisServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several JVMs, half of them on Jedis and half on Lettuce, that want the same few locks
 * all the time. For {@code -Dlock.exclusion.seconds}, 20 by default.
 */
class MutualExclusionTests {

	private static final int PROCESSES = 4;

	private static final int SECONDS = Integer.getInteger("lock.exclusion.seconds", 20);

	/**
	 * No JVM gets less than this part of an equal share.
	 */
	private static final double LEAST_SHARE = 0.4;

	@TempDir
	private Path directory;

	@Test
	void noUpdateIsLostAndNoTwoHoldsOverlap() {
		List<JvmProcess> processes = new ArrayList<>();
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED); Jedis counters = server.admin()) {
			IntStream.range(0, Contender.KEYS).forEach((key) -> counters.set(Contender.key(key), "0"));
			IntStream.range(0, PROCESSES).forEach((number) -> processes.add(start(number, server.port())));
			processes.forEach((process) -> process.awaitLine("ready"));
			processes.forEach((process) -> process.send("go"));
			List<Long> increments = processes.stream().map(MutualExclusionTests::increments).toList();
			List<Hold> holds = IntStream.range(0, PROCESSES)
				.mapToObj((number) -> History.read(history(number)))
				.flatMap(List::stream)
				.toList();
			long sum = increments.stream().mapToLong(Long::longValue).sum();
			System.out.printf("Mutual exclusion: %d acquisitions in %d s, by JVM %s%n", sum, SECONDS, increments);
			HistoryChecker.assertExclusive(holds);
			assertThat(holds).as("holds in the history").hasSize((int) sum).allMatch(Hold::returned);
			assertThat(IntStream.range(0, Contender.KEYS)
				.mapToLong((key) -> Long.parseLong(counters.get(Contender.key(key))))
				.sum()).as("sum of the counters").isEqualTo(sum);
			assertThat(increments).as("increments by JVM")
				.allSatisfy(
						(count) -> assertThat((double) count).isGreaterThanOrEqualTo(LEAST_SHARE * sum / PROCESSES));
		}
		finally {
			processes.forEach(JvmProcess::close);
		}
	}

	private JvmProcess start(int number, int port) {
		Client client = Client.values()[number % Client.values().length];
		return JvmProcess.start(Contender.class, client.name(), String.valueOf(port), String.valueOf(SECONDS),
				history(number).toString());
	}

	private Path history(int number) {
		return this.directory.resolve("history-" + number);
	}

	private static long increments(JvmProcess process) {
		String prefix = "increments ";
		Duration timeout = Duration.ofSeconds(SECONDS + 60);
		return Long.parseLong(
				process.awaitLine((line) -> line.startsWith(prefix), prefix, timeout).substring(prefix.length()));
	}

}
