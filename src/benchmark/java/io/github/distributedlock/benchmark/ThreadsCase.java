package io.github.distributedlock.benchmark;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * One JVM, one key, more and more threads; then 16 threads that hold for a millisecond.
 */
final class ThreadsCase implements Case {

	private static final List<Integer> THREADS = List.of(1, 2, 4, 8, 16, 32, 64);

	private static final List<Integer> FEWER = List.of(1, 4, 16, 64);

	private static final int USUAL = 16;

	private static final long HOLD_MICROS = 1000;

	@Override
	public String name() {
		return "threads";
	}

	@Override
	public void run(Bench bench) {
		Map<Contestant, List<WorkerJvm>> jvms = new EnumMap<>(Contestant.class);
		try {
			for (Contestant contestant : bench.options().contestants()) {
				jvms.put(contestant, bench.start(contestant, 1));
			}
			int millis = bench.options().size(1000, 300);
			jvms.values().forEach((jvm) -> Round.warmUp(jvm, USUAL, 2L * millis));
			for (int threads : bench.options().quick() ? FEWER : THREADS) {
				jvms.forEach((contestant, jvm) -> measure(bench, contestant, jvm, threads, millis));
			}
			jvms.forEach((contestant, jvm) -> fairness(bench, contestant, jvm, 4L * millis));
			jvms.forEach((contestant, jvm) -> waits(bench, contestant, jvm, 2 * millis));
		}
		finally {
			jvms.values().forEach((all) -> all.forEach(WorkerJvm::close));
		}
	}

	private void measure(Bench bench, Contestant contestant, List<WorkerJvm> jvm, int threads, int millis) {
		Round round = Round.of(bench, contestant, jvm, threads, millis, 0);
		Results results = bench.results();
		results.add(Figure.BY_THREADS, contestant, threads, round.perSecond());
		results.add(Figure.COMMANDS, contestant, threads, round.commandsPerOperation());
	}

	// Takes longer, since threads may take turns in long slices.
	private void fairness(Bench bench, Contestant contestant, List<WorkerJvm> jvm, long millis) {
		Round round = Round.of(bench, contestant, jvm, USUAL, millis, 0);
		bench.results().add(Figure.FAIRNESS, contestant, USUAL, round.slowestOverFastest());
	}

	private void waits(Bench bench, Contestant contestant, List<WorkerJvm> jvm, int millis) {
		Percentiles waits = Round.of(bench, contestant, jvm, USUAL, millis, HOLD_MICROS).ran().get(0).waits();
		bench.results().add(Figure.WAITS, contestant, 50, waits.p50() / 1000.0);
		bench.results().add(Figure.WAITS, contestant, 90, waits.p90() / 1000.0);
		bench.results().add(Figure.WAITS, contestant, 99, waits.p99() / 1000.0);
		bench.results().add(Figure.WAITS, contestant, 100, waits.max() / 1000.0);
	}

}
