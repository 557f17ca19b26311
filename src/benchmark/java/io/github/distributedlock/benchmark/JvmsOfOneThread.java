package io.github.distributedlock.benchmark;

import java.util.List;

/**
 * JVMs of one thread each that want one key: nothing can be passed on inside a JVM.
 */
final class JvmsOfOneThread {

	private static final int ROUNDS = 3;

	private static final List<Integer> JVMS = List.of(4, 2);

	void run(Bench bench) {
		try (Crews crews = Crews.start(bench, JVMS.get(0))) {
			measure(bench, crews, JVMS, bench.options().size(1500, 1000));
		}
	}

	static void measure(Bench bench, Crews crews, List<Integer> counts, long millis) {
		crews.forEach((contestant, jvms) -> new WarmUp(bench, contestant, 1, millis).run(jvms));
		for (int round = 0; round < ROUNDS; round++) {
			for (int count : counts) {
				crews.forEach((contestant, jvms) -> measure(bench, contestant, jvms.subList(0, count), millis));
			}
		}
	}

	private static void measure(Bench bench, Contestant contestant, List<WorkerJvm> jvms, long millis) {
		int count = jvms.size();
		Round round = Round.oneKey(bench, contestant, jvms, 1, millis, 0);
		Results results = bench.results();
		results.add(Figure.JVMS_OF_ONE, contestant, count, round.perSecond());
		results.add(Figure.JVMS_OF_ONE_P50, contestant, count, round.operations().percentile(50));
		results.add(Figure.JVMS_OF_ONE_P99, contestant, count, round.operations().percentile(99));
		results.add(Figure.JVMS_OF_ONE_WAIT_P50, contestant, count, round.waits().percentile(50));
		results.add(Figure.JVMS_OF_ONE_WAIT_P99, contestant, count, round.waits().percentile(99));
		results.add(Figure.JVMS_OF_ONE_REQUESTS, contestant, count, round.requestsPerOperation());
		results.add(Figure.JVMS_OF_ONE_COMMANDS, contestant, count, round.commandsPerOperation());
		results.add(Figure.JVMS_OF_ONE_CPU, contestant, count, round.cpuMicrosPerOperation());
		if (count > 1) {
			results.add(Figure.JVMS_OF_ONE_SHARE, contestant, count, 100 * round.smallestShare());
			results.add(Figure.JVMS_OF_ONE_HAND_OVERS, contestant, count, 1000.0 * round.handOvers() / millis);
		}
	}

}
