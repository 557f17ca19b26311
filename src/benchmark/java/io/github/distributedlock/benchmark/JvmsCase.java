package io.github.distributedlock.benchmark;

import java.util.List;

/**
 * Several JVMs that want one key: first with some threads each, then with one. The same
 * JVMs do both, because their compilers need minutes to come to rest.
 */
final class JvmsCase {

	private static final List<Integer> JVMS = List.of(8, 4, 2, 1);

	private static final int THREADS = 4;

	private static final int THREADS_OF_TWO = 8;

	void run(Bench bench) {
		int millis = bench.options().size(1000, 500);
		try (Crews crews = Crews.start(bench, JVMS.get(0))) {
			crews.forEach((contestant, jvms) -> new WarmUp(bench, contestant, THREADS, millis).run(jvms));
			for (int round = 0; round < bench.options().size(2, 1); round++) {
				for (int count : JVMS) {
					crews.forEach((contestant, jvms) -> measure(bench, contestant, jvms.subList(0, count), millis));
				}
				crews.forEach((contestant, jvms) -> measureTwo(bench, contestant, jvms.subList(0, 2), 2L * millis));
			}
			JvmsOfOneThread.measure(bench, crews, JVMS, millis);
		}
	}

	private void measure(Bench bench, Contestant contestant, List<WorkerJvm> jvms, long millis) {
		int count = jvms.size();
		Round round = Round.oneKey(bench, contestant, jvms, THREADS, millis, 0);
		Results results = bench.results();
		results.add(Figure.BY_JVMS, contestant, count, round.perSecond());
		results.add(Figure.COMMANDS_BY_JVMS, contestant, count, round.commandsPerOperation());
		if (count > 1) {
			double handOvers = Math.max(1.0, round.handOvers());
			results.add(Figure.HAND_OVERS, contestant, count, round.holds() / handOvers);
			round.attempts()
				.ifPresent((attempts) -> results.add(Figure.ATTEMPTS, contestant, count, attempts / handOvers));
		}
	}

	private void measureTwo(Bench bench, Contestant contestant, List<WorkerJvm> jvms, long millis) {
		Round two = Round.oneKey(bench, contestant, jvms, THREADS_OF_TWO, millis, 0);
		bench.results().add(Figure.TWO_JVMS, contestant, 2, two.perSecond());
		bench.results().add(Figure.TWO_JVMS_SHARE, contestant, 2, 100 * two.smallestShare());
		bench.results().add(Figure.TWO_JVMS_FAIRNESS, contestant, 2, two.slowestOverFastest());
	}

}
