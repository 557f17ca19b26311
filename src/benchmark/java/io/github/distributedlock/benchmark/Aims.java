package io.github.distributedlock.benchmark;

import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;

/**
 * The aims of this library, and whether they are reached.
 */
final class Aims {

	private final Results results;

	private final Contestant ours;

	private final Contestant kept;

	private final StringBuilder text = new StringBuilder("## Aims\n");

	private Aims(Results results, Contestant ours, Contestant kept) {
		this.results = results;
		this.ours = ours;
		this.kept = kept;
	}

	static String table(Results results, String store) {
		return switch (store) {
			case "postgresql" -> onPostgres(new Aims(results, Contestant.OURS_JDBC, Contestant.OURS_JDBC_KEPT));
			case "mariadb" -> onMariaDb(new Aims(results, Contestant.OURS_MARIADB, Contestant.OURS_MARIADB));
			default -> onRedis(new Aims(results, Contestant.OURS, Contestant.OURS_KEPT));
		};
	}

	private static String onPostgres(Aims aims) {
		aims.heading("PostgreSQL");
		aims.database(Contestant.JDBC);
		aims.heading("Kept locks");
		aims.kept(Contestant.JDBC, 10);
		return aims.text.toString();
	}

	/** The aims are those of PostgreSQL: MariaDB has none of its own. */
	private static String onMariaDb(Aims aims) {
		aims.heading("MariaDB, by the aims of PostgreSQL");
		aims.database(Contestant.MARIADB);
		return aims.text.toString();
	}

	private static String onRedis(Aims aims) {
		aims.heading("Contention");
		aims.contention();
		aims.heading("Kept locks");
		aims.kept(Contestant.JEDIS, 5);
		aims.heading("4 permits");
		aims.permits();
		aims.heading("JVMs of one thread, keys of their own, Lettuce");
		aims.handOver();
		aims.ownKeys();
		aims.lettuce();
		return aims.text.toString();
	}

	private void database(Contestant raw) {
		atLeast("1 thread, own key, over raw JDBC", 1.3, over(raw, Figure.OWN_KEYS, 1));
		atLeast("16 threads, own keys, over raw JDBC", 1.3, over(raw, Figure.OWN_KEYS, 16));
		atLeast("16 threads, one key, over the best peer", 10, overBest(Figure.ONE_KEY, 16, true));
		atLeast("4 JVMs × 1 thread, one key, over raw JDBC, which spins", 1, over(raw, Figure.JVMS_OF_ONE, 4));
		atLeast("the same, share of the JVM that got least, %", 20, ours(Figure.JVMS_OF_ONE_SHARE, 4));
		atMost("From a release to the next holder, in another JVM, p50, ms", 5, ours(Figure.HAND_OVER, 1));
		atMost("100 idle waiters in one JVM, statements/s", 3, ours(Figure.IDLE_REQUESTS, 100));
	}

	private void kept(Contestant raw, double jvms) {
		atLeast("1 thread, own key, over " + raw.label(), 50, keptOver(raw, Figure.OWN_KEYS, 1));
		atLeast("16 threads, own keys, over " + raw.label(), 20, keptOver(raw, Figure.OWN_KEYS, 16));
		atLeast("4 JVMs × 1 thread, one key, over " + raw.label() + ", which spins", jvms,
				keptOver(raw, Figure.JVMS_OF_ONE, 4));
		atLeast("the same, share of the JVM that got least, %", 20, of(this.kept, Figure.JVMS_OF_ONE_SHARE, 4));
		atMost("the same, p99 of a wait, ms", 50, of(this.kept, Figure.JVMS_OF_ONE_WAIT_P99, 4));
		atLeast("2 JVMs × 1 thread, one key, over ours that does not keep", 1 / 1.2,
				ratio(of(this.kept, Figure.JVMS_OF_ONE, 2), ours(Figure.JVMS_OF_ONE, 2)));
	}

	private void contention() {
		atLeast("1 thread, own key, over raw Jedis", 0.9, over(Contestant.JEDIS, Figure.OWN_KEYS, 1));
		atLeast("16 threads, own keys, over raw Jedis", 0.9, over(Contestant.JEDIS, Figure.OWN_KEYS, 16));
		atLeast("16 threads, one key, over the best peer", 10, overBest(Figure.ONE_KEY, 16, true));
		atLeast("2 JVMs × 8 threads, one key, over the best peer", 5, overBest(Figure.TWO_JVMS, 2, true));
		atLeast("the same, share of the JVM that got less, %", 40, ours(Figure.TWO_JVMS_SHARE, 2));
		atLeast("16 threads of one JVM, slowest over fastest", 0.8, ours(Figure.FAIRNESS, 16));
		atMost("8 JVMs × 4 threads, one key: attempts per hand-over between JVMs", 1.5, ours(Figure.ATTEMPTS, 8));
		atMost("100 idle waiters in one JVM, requests/s", 2, ours(Figure.IDLE_REQUESTS, 100));
		atMost("100 waiters drained, over the best peer's time", 0.5, overBest(Figure.DRAIN, 100, false));
		atMost("annotated call over a plain proxied call, memory backend, µs", 3, annotated(Figure.CALL));
		atMost("the same, bytes allocated", 1024, annotated(Figure.CALL_ALLOCATION));
		atMost("10,000 held locks, renewal, % of a core", 2, ours(Figure.RENEWAL, 10_000));
	}

	private void permits() {
		atLeast("4 JVMs × 4 threads, over Redisson", 3, over(Contestant.REDISSON, Figure.PERMITS, 4));
		atLeast("the same, share of the JVM that got least, %", 20, ours(Figure.PERMITS_SHARE, 4));
		atMost("100 idle waiters in one JVM, requests/s", 2.2, ours(Figure.PERMITS_IDLE, 100));
	}

	private void handOver() {
		atLeast("4 JVMs × 1 thread, one key, over Redisson", 8, over(Contestant.REDISSON, Figure.JVMS_OF_ONE, 4));
		atLeast("the same, over Spring Integration pub/sub", 8, over(Contestant.INTEGRATION, Figure.JVMS_OF_ONE, 4));
		atLeast("the same, over raw Jedis, which spins", 0.7, over(Contestant.JEDIS, Figure.JVMS_OF_ONE, 4));
		atMost("the same, requests per operation", 2.2, ours(Figure.JVMS_OF_ONE_REQUESTS, 4));
		atMost("the same, server commands per operation", 16, ours(Figure.JVMS_OF_ONE_COMMANDS, 4));
		atLeast("the same, share of the JVM that got least, %", 20, ours(Figure.JVMS_OF_ONE_SHARE, 4));
		// 0.6 ms where that takes 0.1 ms.
		atMost("2 JVMs × 1 thread, one key, p99 of lock and unlock over the p50 of raw Jedis alone", 6,
				ratio(ours(Figure.JVMS_OF_ONE_P99, 2), of(Contestant.JEDIS, Figure.JVMS_OF_ONE_P50, 1)));
		atMost("8 JVMs × 4 threads, one key: attempts per hand-over between JVMs", 1.2, ours(Figure.ATTEMPTS, 8));
	}

	private void ownKeys() {
		atLeast("1 thread, own key, over raw Jedis", 1, over(Contestant.JEDIS, Figure.BY_OWN_KEYS, 1));
		atLeast("16 threads, own keys, over raw Jedis", 1.1, over(Contestant.JEDIS, Figure.BY_OWN_KEYS, 16));
		atLeast("64 threads, own keys, over raw Jedis", 1.4, over(Contestant.JEDIS, Figure.BY_OWN_KEYS, 64));
	}

	private void lettuce() {
		lettuce("2 JVMs × 1 thread, one key", Figure.JVMS_OF_ONE, 2);
		lettuce("4 JVMs × 1 thread, one key", Figure.JVMS_OF_ONE, 4);
		lettuce("8 JVMs × 4 threads, one key", Figure.BY_JVMS, 8);
		lettuce("1 thread, own key", Figure.BY_OWN_KEYS, 1);
		lettuce("16 threads, own keys", Figure.BY_OWN_KEYS, 16);
		lettuce("64 threads, own keys", Figure.BY_OWN_KEYS, 64);
	}

	// Half of what Jedis reaches will do, and so will most of what Lettuce alone reaches.
	private void lettuce(String what, Figure figure, int load) {
		double half = 0.5;
		double most = 0.8 * ratio(of(Contestant.LETTUCE, figure, load), of(Contestant.JEDIS, figure, load)).orElse(1);
		OptionalDouble measured = ratio(of(Contestant.OURS_LETTUCE, figure, load), ours(figure, load));
		row(what + ", Lettuce over Jedis",
				"≥ " + Numbers.of(half) + ", or 0.8 × raw Lettuce over raw Jedis: " + Numbers.of(most), measured,
				measured.isPresent() && measured.getAsDouble() >= Math.min(half, most));
	}

	private OptionalDouble ours(Figure figure, int load) {
		return of(this.ours, figure, load);
	}

	private OptionalDouble of(Contestant contestant, Figure figure, int load) {
		return this.results.median(figure, contestant.label(), load);
	}

	private OptionalDouble over(Contestant other, Figure figure, int load) {
		return ratio(ours(figure, load), of(other, figure, load));
	}

	private OptionalDouble keptOver(Contestant other, Figure figure, int load) {
		return ratio(of(this.kept, figure, load), of(other, figure, load));
	}

	private OptionalDouble overBest(Figure figure, int load, boolean most) {
		ToDoubleFunction<OptionalDouble> value = OptionalDouble::getAsDouble;
		Comparator<OptionalDouble> order = Comparator.comparingDouble(value);
		List<OptionalDouble> peers = List.of(Contestant.values())
			.stream()
			.filter((contestant) -> !contestant.isOurs())
			.map((contestant) -> of(contestant, figure, load))
			.filter(OptionalDouble::isPresent)
			.sorted(most ? order.reversed() : order)
			.toList();
		return peers.isEmpty() ? OptionalDouble.empty() : ratio(ours(figure, load), peers.get(0));
	}

	private OptionalDouble annotated(Figure figure) {
		OptionalDouble annotated = this.results.median(figure, AnnotatedCall.ANNOTATED, 1);
		OptionalDouble plain = this.results.median(figure, AnnotatedCall.PLAIN, 1);
		return (annotated.isPresent() && plain.isPresent())
				? OptionalDouble.of(annotated.getAsDouble() - plain.getAsDouble()) : OptionalDouble.empty();
	}

	private static OptionalDouble ratio(OptionalDouble value, OptionalDouble other) {
		return (value.isPresent() && other.isPresent() && other.getAsDouble() > 0)
				? OptionalDouble.of(value.getAsDouble() / other.getAsDouble()) : OptionalDouble.empty();
	}

	private void heading(String group) {
		this.text.append("\n### ").append(group).append("\n\n| case | aim | measured | |\n|---|---|---:|---|\n");
	}

	private void atLeast(String what, double aim, OptionalDouble measured) {
		row(what, "≥ " + Numbers.of(aim), measured, measured.isPresent() && measured.getAsDouble() >= aim);
	}

	private void atMost(String what, double aim, OptionalDouble measured) {
		row(what, "≤ " + Numbers.of(aim), measured, measured.isPresent() && measured.getAsDouble() <= aim);
	}

	private void row(String what, String aim, OptionalDouble measured, boolean reached) {
		String value = measured.isPresent() ? Numbers.of(measured.getAsDouble()) : "not measured";
		this.text.append("| " + what + " | " + aim + " | " + value + " | "
				+ (measured.isEmpty() ? "" : reached ? "reached" : "**missed**") + " |\n");
	}

}
