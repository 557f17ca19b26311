package io.github.distributedlock.faults;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.Variant;
import io.lettuce.core.RedisClient;
import redis.clients.jedis.Jedis;

/**
 * The rows of this run, in {@code target/reliability.md}. Written anew with each row. The
 * JVMs of a run write one table together.
 */
final class FaultTable {

	private static final String HEAD = """
			| fault | client | trials | holds | overlaps | longest orphan | longest overrun | loss noticed | left over | noise | remark |
			|---|---|---|---|---|---|---|---|---|---|---|
			""";

	/** The same for all JVMs that one Maven has started, perhaps by a shell. */
	private static final String RUN = Stream
		.iterate(ProcessHandle.current().parent(), Optional::isPresent, (one) -> one.flatMap(ProcessHandle::parent))
		.flatMap(Optional::stream)
		.filter((one) -> one.info().command().orElse("").endsWith("java"))
		.findFirst()
		.map((maven) -> "<!-- run " + maven.pid() + " -->\n")
		.orElse("");

	private static final String CONDITIONS = RUN + conditions();

	private FaultTable() {
	}

	/**
	 * Adds a row, or replaces it.
	 */
	static synchronized void add(String fault, Client client, Outcome outcome, String remark) {
		String name = client.name().charAt(0) + client.name().substring(1).toLowerCase(Locale.ROOT);
		try {
			Path classes = Path.of(FaultTable.class.getProtectionDomain().getCodeSource().getLocation().toURI());
			write(classes.resolveSibling("reliability.md"), row(fault, name, outcome, remark));
		}
		catch (IOException | URISyntaxException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void write(Path table, String row) throws IOException {
		try (FileChannel channel = FileChannel.open(table, StandardOpenOption.CREATE, StandardOpenOption.READ,
				StandardOpenOption.WRITE); FileLock lock = channel.lock()) {
			String before = Files.readString(table);
			Map<String, String> rows = new TreeMap<>();
			Stream<String> known = before.startsWith(RUN) && before.contains(HEAD)
					? before.substring(before.indexOf(HEAD) + HEAD.length()).lines() : Stream.empty();
			Stream.concat(known, Stream.of(row.strip())).forEach((each) -> rows.put(faultAndClient(each), each));
			channel.truncate(0);
			Files.writeString(table, CONDITIONS + HEAD + String.join("\n", rows.values()) + "\n");
		}
	}

	private static String faultAndClient(String row) {
		return row.substring(0, row.indexOf('|', row.indexOf('|', 1) + 1));
	}

	private static String row(String fault, String client, Outcome outcome, String remark) {
		return "| %s | %s | %d | %d | %d | %s | %s | %s | %d keys, %d threads | %s | %s |%n".formatted(fault, client,
				outcome.trials(), outcome.holds(), outcome.overlaps().size(), millis(outcome.orphan()),
				millis(outcome.overrun()), told(outcome), outcome.keysLeft(), outcome.threadsLeft(),
				millis(outcome.noise()), remark);
	}

	private static String told(Outcome outcome) {
		String before = "";
		if (outcome.toldBefore() != null) {
			before = millis(outcome.toldBefore().abs()) + (outcome.toldBefore().isNegative() ? " after" : " before")
					+ " the server's deadline";
		}
		String after = (outcome.toldAfter() != null) ? millis(outcome.toldAfter()) + " after the fault" : "";
		String both = before + ((before.isEmpty() || after.isEmpty()) ? "" : ", ") + after;
		return both.isEmpty() ? "nothing lost" : both;
	}

	private static String millis(Duration duration) {
		return duration.toMillis() + " ms";
	}

	private static String conditions() {
		try (RedisServers.Server server = RedisServers.start(Variant.SERVER); Jedis admin = server.admin()) {
			String redis = admin.info("server")
				.lines()
				.filter((line) -> line.startsWith("redis_version:"))
				.findFirst()
				.orElse("redis_version:?")
				.substring("redis_version:".length());
			return """
					%s: Redis %s, Jedis %s, Lettuce %s, JDK %s on %s with %d processors.
					Lease %d ms, command timeout %d ms, watchdog every %d ms.
					`./mvnw test -Dtest='*FaultsTests' -Dlock.faults.trials=%d`

					""".formatted(LocalDate.now(ZoneOffset.UTC), redis.strip(), version(Jedis.class),
					version(RedisClient.class), Runtime.version(), System.getProperty("os.name"),
					Runtime.getRuntime().availableProcessors(), Trial.LEASE.toMillis(),
					Trial.COMMAND_TIMEOUT.toMillis(), Trial.LEASE.toMillis() / 3, FaultRow.TRIALS);
		}
	}

	private static String version(Class<?> type) {
		String jar = type.getProtectionDomain().getCodeSource().getLocation().getPath();
		return jar.replaceAll(".*-([0-9][^/]*)\\.jar", "$1");
	}

}
