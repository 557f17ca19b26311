package io.github.distributedlock.multijvm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

import io.github.distributedlock.fixtures.AtomicityCase;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.tck.History;
import io.github.distributedlock.tck.History.Hold;
import io.github.distributedlock.tck.HistoryChecker;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Several JVMs, half of them on Jedis and half on Lettuce, that want the same few locks
 * all the time, in one round after the other.
 */
final class Contest implements AutoCloseable {

	static final int PROCESSES = 4;

	private final Path directory;

	private final List<JvmProcess> processes;

	private int round;

	Contest(Path directory) {
		this(directory, (number) -> Map.of());
	}

	/**
	 * Starts the processes.
	 * @param properties the system properties of each
	 */
	Contest(Path directory, IntFunction<Map<String, String>> properties) {
		this.directory = directory;
		this.processes = each((number) -> JvmProcess.start(Contender.class, properties.apply(number)));
	}

	/**
	 * Runs a round and asserts that no update was lost and no two holds overlapped.
	 * @param duration how long the round lasts
	 * @param cases how each JVM keeps its locks atomic, all on one server; JVMs beyond
	 * the last case begin again with the first
	 * @return how many locks each JVM got
	 */
	List<Long> run(Duration duration, List<AtomicityCase> cases) {
		this.round++;
		try (Jedis counters = RedisServers.admin(cases.get(0).server())) {
			IntStream.range(0, Contender.KEYS).forEach((key) -> counters.set(Contender.key(key), "0"));
			each((number) -> send(number, Contender.order(Client.values()[number % Client.values().length],
					cases.get(number % cases.size()), duration, history(number))));
			this.processes.forEach((process) -> process.awaitLine("ready"));
			each((number) -> send(number, "go"));
			List<Long> increments = each((number) -> increments(this.processes.get(number), duration));
			long sum = increments.stream().mapToLong(Long::longValue).sum();
			System.out.printf("Mutual exclusion (%s): %d acquisitions in %d s, by JVM %s%n", cases, sum,
					duration.toSeconds(), increments);
			List<Hold> holds = each((number) -> History.read(history(number))).stream().flatMap(List::stream).toList();
			HistoryChecker.assertExclusive(holds);
			assertThat(holds).as("holds in the history").hasSize((int) sum).allMatch(Hold::returned);
			assertThat(IntStream.range(0, Contender.KEYS)
				.mapToLong((key) -> Long.parseLong(counters.get(Contender.key(key))))
				.sum()).as("sum of the counters").isEqualTo(sum);
			return increments;
		}
	}

	private static <T> List<T> each(IntFunction<T> action) {
		return IntStream.range(0, PROCESSES).mapToObj(action).toList();
	}

	private JvmProcess send(int number, String line) {
		this.processes.get(number).send(line);
		return this.processes.get(number);
	}

	private Path history(int number) {
		return this.directory.resolve("history-" + this.round + "-" + number);
	}

	private static long increments(JvmProcess process, Duration duration) {
		String prefix = "increments ";
		return Long
			.parseLong(process.awaitLine((line) -> line.startsWith(prefix), prefix, duration.plus(Patience.PATIENCE))
				.substring(prefix.length()));
	}

	@Override
	public void close() {
		this.processes.forEach(JvmProcess::close);
	}

}
