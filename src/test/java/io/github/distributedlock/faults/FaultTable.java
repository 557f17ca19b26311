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
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.Variant;
import io.lettuce.core.RedisClient;
import redis.clients.jedis.Jedis;

/**
 * The rows of this run, in {@code target/reliability.md}. Written anew with each row. The
 * JVMs of a run write one table together. Rows of the page that the run has not written
 * say so.
 */
final class FaultTable {

	/** The remark of a row that does not keep the promise. */
	static final String BROKEN = "**broken**";

	/** The remark of a row that the run has left out. */
	static final String NOT_RUN = "**not run**";

	/** The classes that write rows, in the form of Maven's {@code -Dtest}. */
	static final String TESTS = "*FaultsTests,ClusterMembersTests,BlockedEventLoopTests,HangingCallsTests,JdbcConfigurationTests";

	static final Path PAGE = Path.of("src/docs/reliability.md");

	private static final String HEAD = """
			| fault | client or database | trials | holds | overlaps | longest orphan | longest overrun | loss noticed | left over | noise | remark |
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
	 * Adds or replaces a row of trials.
	 * @param outcome what was measured; {@code null} if a trial failed before that
	 */
	static void add(String fault, Client client, Outcome outcome, String remark) {
		add(row(fault, client, (outcome != null) ? cells(outcome) : unmeasured(0), remark));
	}

	/**
	 * Adds or replaces a row of a test that measures nothing.
	 * @param with the client or the database
	 */
	static void add(String fault, Object with, int trials, String remark) {
		add(row(fault, with, unmeasured(trials), remark));
	}

	private static synchronized void add(String row) {
		try {
			Path classes = Path.of(FaultTable.class.getProtectionDomain().getCodeSource().getLocation().toURI());
			write(classes.resolveSibling("reliability.md"), row);
		}
		catch (IOException | URISyntaxException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void write(Path table, String row) throws IOException {
		try (FileChannel channel = FileChannel.open(table, StandardOpenOption.CREATE, StandardOpenOption.READ,
				StandardOpenOption.WRITE); FileLock lock = channel.lock()) {
			String before = Files.readString(table);
			Stream<String> known = before.startsWith(RUN) && before.contains(HEAD) ? rows(before)
					: rows(Files.readString(PAGE)).map((each) -> faultAndClient(each) + unmeasured(0) + NOT_RUN + " |");
			Map<String, String> rows = new TreeMap<>();
			Stream.concat(known, Stream.of(row)).forEach((each) -> rows.put(faultAndClient(each), each));
			channel.truncate(0);
			Files.writeString(table, CONDITIONS + HEAD + String.join("\n", rows.values()) + "\n");
		}
	}

	/** Returns the faults in the rows of the page. */
	static Set<String> faultsOfPage() throws IOException {
		return rows(Files.readString(PAGE)).map((row) -> row.substring(2, row.indexOf(" |", 2)))
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private static Stream<String> rows(String text) {
		return text.substring(text.indexOf(HEAD) + HEAD.length()).lines();
	}

	private static String faultAndClient(String row) {
		return row.substring(0, row.indexOf('|', row.indexOf('|', 1) + 1));
	}

	private static String row(String fault, Object with, String cells, String remark) {
		String name = (with instanceof Client client)
				? client.name().charAt(0) + client.name().substring(1).toLowerCase(Locale.ROOT) : with.toString();
		return "| %s | %s %s%s |".formatted(fault, name, cells, remark);
	}

	private static String cells(Outcome outcome) {
		return "| %d | %d | %d | %s | %s | %s | %d keys, %d threads | %s | ".formatted(outcome.trials(),
				outcome.holds(), outcome.overlaps().size(), millis(outcome.orphan()), millis(outcome.overrun()),
				told(outcome), outcome.keysLeft(), outcome.threadsLeft(), millis(outcome.noise()));
	}

	private static String unmeasured(int trials) {
		return "| " + trials + " | – | – | – | – | – | – | – | ";
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
					`./mvnw test -Pthorough -Dtest='%s' -Dlock.faults.trials=%d`

					""".formatted(LocalDate.now(ZoneOffset.UTC), redis.strip(), version(Jedis.class),
					version(RedisClient.class), Runtime.version(), System.getProperty("os.name"),
					Runtime.getRuntime().availableProcessors(), Trial.LEASE.toMillis(),
					Trial.COMMAND_TIMEOUT.toMillis(), Trial.LEASE.toMillis() / 3, TESTS, FaultRow.TRIALS);
		}
	}

	private static String version(Class<?> type) {
		String jar = type.getProtectionDomain().getCodeSource().getLocation().getPath();
		return jar.replaceAll(".*-([0-9][^/]*)\\.jar", "$1");
	}

}
