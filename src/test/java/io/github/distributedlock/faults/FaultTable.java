package io.github.distributedlock.faults;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.Variant;
import io.lettuce.core.RedisClient;
import redis.clients.jedis.Jedis;

/**
 * The rows of this run, in {@code target/reliability.md}. Written anew with each row.
 */
final class FaultTable {

	private static final Map<String, String> ROWS = new TreeMap<>();

	private static final String HEAD = """
			| fault | client | trials | holds | overlaps | longest orphan | longest overrun | loss noticed | left over | noise | remark |
			|---|---|---|---|---|---|---|---|---|---|---|
			""";

	private static final String CONDITIONS = conditions();

	private FaultTable() {
	}

	/**
	 * Adds a row, or replaces it.
	 */
	static synchronized void add(String fault, Client client, Outcome outcome, String remark) {
		String name = client.name().charAt(0) + client.name().substring(1).toLowerCase(Locale.ROOT);
		ROWS.put(fault + name, row(fault, name, outcome, remark));
		try {
			Path classes = Path.of(FaultTable.class.getProtectionDomain().getCodeSource().getLocation().toURI());
			Files.writeString(classes.resolveSibling("reliability.md"),
					CONDITIONS + HEAD + String.join("", ROWS.values()));
		}
		catch (IOException | URISyntaxException ex) {
			throw new IllegalStateException(ex);
		}
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
