package io.github.distributedlock.benchmark;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The system properties that say what to measure, and for how long.
 */
final class Options {

	private static final Map<String, Set<Contestant>> STORES = Map.of("redis",
			EnumSet.range(Contestant.OURS, Contestant.LOCK4J), "postgresql",
			EnumSet.range(Contestant.OURS_JDBC, Contestant.INTEGRATION_JDBC), "mariadb",
			EnumSet.range(Contestant.OURS_MARIADB, Contestant.INTEGRATION_MARIADB));

	private static final List<Contestant> FEW = List.of(Contestant.OURS, Contestant.OURS_LETTUCE, Contestant.JEDIS,
			Contestant.LETTUCE, Contestant.REDISSON, Contestant.INTEGRATION);

	private final String store = System.getProperty("benchmark.store", "redis");

	private final boolean quick = Boolean.getBoolean("benchmark.quick");

	private final List<String> cases = list("benchmark.cases");

	private final List<String> contestants = list("benchmark.contestants");

	String store() {
		return this.store;
	}

	boolean onDatabase() {
		return !this.store.equals("redis");
	}

	Store startStore() {
		return switch (this.store) {
			case "redis" -> new RedisStore();
			case "postgresql" -> new PostgresStore();
			case "mariadb" -> new MariaDbStore();
			default -> throw new IllegalArgumentException(
					"benchmark.store=" + this.store + " is none of " + new TreeSet<>(STORES.keySet()));
		};
	}

	boolean quick() {
		return this.quick;
	}

	/**
	 * A number that a quick run makes smaller.
	 */
	int size(int full, int quick) {
		return this.quick ? quick : full;
	}

	boolean selects(String name) {
		return this.cases.isEmpty() || this.cases.contains(name);
	}

	/**
	 * Returns the contestants: those that are named, else all; in a quick run, else the
	 * few that tell most.
	 */
	List<Contestant> contestants() {
		if (this.contestants.isEmpty() && this.quick && !onDatabase()) {
			return FEW;
		}
		return Arrays.stream(Contestant.values())
			.filter(STORES.get(this.store)::contains)
			.filter((contestant) -> this.contestants.isEmpty()
					|| this.contestants.contains(contestant.name().toLowerCase(Locale.ROOT).replace('_', '-')))
			.toList();
	}

	/**
	 * Returns where to write: to the published folder only if all was measured.
	 */
	Path output() {
		boolean all = !this.quick && this.cases.isEmpty() && this.contestants.isEmpty();
		Path directory = Path.of(all ? "src/docs/performance" : "target/benchmark/performance");
		return onDatabase() ? directory.resolve(this.store) : directory;
	}

	private static List<String> list(String property) {
		return Arrays.stream(System.getProperty(property, "").split(","))
			.map(String::strip)
			.filter((name) -> !name.isEmpty())
			.toList();
	}

}
