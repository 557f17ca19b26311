package io.github.distributedlock.benchmark;

import java.util.List;

/**
 * One JVM, one key, more and more threads; then 16 threads that hold for a millisecond.
 */
final class ThreadsCase {

	private static final List<Integer> THREADS = List.of(1, 2, 4, 8, 16, 32, 64);

	private static final List<Integer> FEWER = List.of(1, 4, 16, 64);

	private static final List<Integer> PERCENTS = List.of(50, 90, 99, 100);

	private static final int USUAL = 16;

	private static final long HOLD_MICROS = 1000;

	void run(Bench bench) {
		try (Crews jvms = Crews.start(bench, 1)) {
			int millis = bench.options().size(1000, 300);
			jvms.forEach((contestant, jvm) -> new WarmUp(bench, contestant, USUAL, 2L * millis).run(jvm));
			for (int threads : bench.options().quick() ? FEWER : THREADS) {
				jvms.forEach((contestant, jvm) -> measure(bench, contestant, jvm, threads, millis));
			}
			jvms.forEach((contestant, jvm) -> fairness(bench, contestant, jvm, 4L * millis));
			jvms.forEach((contestant, jvm) -> waits(bench, contestant, jvm, 2 * millis));
		}
	}

	private void measure(Bench bench, Contestant contestant, List<WorkerJvm> jvm, int threads, int millis) {
		Round round = Round.oneKey(bench, contestant, jvm, threads, millis, 0);
		Results results = bench.results();
		results.add(Figure.BY_THREADS, contestant, threads, round.perSecond());
		results.add(Figure.COMMANDS, contestant, threads, round.commandsPerOperation());
	}

	// Takes longer, since threads may take turns in long slices.
	private void fairness(Bench bench, Contestant contestant, List<WorkerJvm> jvm, long millis) {
		Round round = Round.oneKey(bench, contestant, jvm, USUAL, millis, 0);
		bench.results().add(Figure.FAIRNESS, contestant, USUAL, round.slowestOverFastest());
	}

	private void waits(Bench bench, Contestant contestant, List<WorkerJvm> jvm, int millis) {
		Durations waits = Round.oneKey(bench, contestant, jvm, USUAL, millis, HOLD_MICROS).waits();
		for (int percent : PERCENTS) {
			bench.results().add(Figure.WAITS, contestant, percent, waits.percentile(percent));
		}
	}

}
