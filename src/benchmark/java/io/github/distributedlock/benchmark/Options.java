package io.github.distributedlock.benchmark;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * What to measure, and for how long.
 */
final class Options {

	private static final Set<Contestant> ON_POSTGRESQL = EnumSet.range(Contestant.OURS_JDBC,
			Contestant.INTEGRATION_JDBC);

	private static final List<Contestant> FEW = List.of(Contestant.OURS, Contestant.OURS_LETTUCE, Contestant.JEDIS,
			Contestant.LETTUCE, Contestant.REDISSON, Contestant.INTEGRATION);

	private final String store = System.getProperty("benchmark.store", "redis");

	private final boolean quick = Boolean.getBoolean("benchmark.quick");

	private final List<String> cases = list("benchmark.cases");

	private final List<String> contestants = list("benchmark.contestants");

	/**
	 * Whether it is measured on PostgreSQL, and not on Redis.
	 */
	boolean onPostgres() {
		return switch (this.store) {
			case "redis" -> false;
			case "postgresql" -> true;
			default -> throw new IllegalArgumentException("benchmark.store=" + this.store);
		};
	}

	Store startStore() {
		return onPostgres() ? new PostgresStore() : new RedisStore();
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
	 * Who is measured: those who are named, else all; in a quick run, else the few that
	 * tell most.
	 */
	List<Contestant> contestants() {
		if (this.contestants.isEmpty() && this.quick && !onPostgres()) {
			return FEW;
		}
		return Arrays.stream(Contestant.values())
			.filter((contestant) -> ON_POSTGRESQL.contains(contestant) == onPostgres())
			.filter((contestant) -> this.contestants.isEmpty()
					|| this.contestants.contains(contestant.name().toLowerCase(Locale.ROOT).replace('_', '-')))
			.toList();
	}

	/**
	 * Where to write: to what is published only if all was measured.
	 */
	Path output() {
		boolean all = !this.quick && this.cases.isEmpty() && this.contestants.isEmpty();
		Path directory = Path.of(all ? "src/docs/performance" : "target/benchmark/performance");
		return onPostgres() ? directory.resolve(this.store) : directory;
	}

	private static List<String> list(String property) {
		return Arrays.stream(System.getProperty(property, "").split(","))
			.map(String::strip)
			.filter((name) -> !name.isEmpty())
			.toList();
	}

}
