package io.github.distributedlock.benchmark;

import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.ToDoubleFunction;

/**
 * What this library set out to reach, and whether it does.
 */
final class Aims {

	private static final String OURS = Contestant.OURS.label();

	private final Results results;

	private final StringBuilder text = new StringBuilder();

	private Aims(Results results) {
		this.results = results;
	}

	static String table(Results results) {
		Aims aims = new Aims(results);
		aims.text.append("## Aims\n\n| case | aim | measured | |\n|---|---|---:|---|\n");
		aims.add();
		return aims.text.toString();
	}

	private void add() {
		atLeast("1 thread, own key, over raw Jedis", 0.9, overJedis(1));
		atLeast("16 threads, own keys, over raw Jedis", 0.9, overJedis(16));
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

	private OptionalDouble ours(Figure figure, int load) {
		return this.results.median(figure, OURS, load);
	}

	private OptionalDouble overJedis(int threads) {
		return ratio(ours(Figure.OWN_KEYS, threads),
				this.results.median(Figure.OWN_KEYS, Contestant.JEDIS.label(), threads));
	}

	private OptionalDouble overBest(Figure figure, int load, boolean most) {
		ToDoubleFunction<OptionalDouble> value = OptionalDouble::getAsDouble;
		Comparator<OptionalDouble> order = Comparator.comparingDouble(value);
		List<OptionalDouble> peers = List.of(Contestant.values())
			.stream()
			.filter((contestant) -> !contestant.isOurs())
			.map((contestant) -> this.results.median(figure, contestant.label(), load))
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
