package io.github.distributedlock.benchmark;

import java.util.List;

/**
 * One JVM, and more and more threads with a key each: nobody waits.
 */
final class ThreadsOwnKeysCase {

	private static final List<Integer> THREADS = List.of(1, 4, 16, 64);

	private static final int USUAL = 16;

	private static final int ROUNDS = 3;

	void run(Bench bench) {
		int millis = bench.options().size(1000, 500);
		try (Crews jvms = Crews.start(bench, 1)) {
			jvms.forEach((contestant, jvm) -> new WarmUp(bench, contestant, USUAL, 3L * millis).runOwnKeys(jvm));
			for (int round = 0; round < ROUNDS; round++) {
				for (int threads : THREADS) {
					jvms.forEach((contestant, jvm) -> measure(bench, contestant, jvm, threads, millis));
				}
			}
		}
	}

	private void measure(Bench bench, Contestant contestant, List<WorkerJvm> jvm, int threads, long millis) {
		Round round = Round.ownKeys(bench, contestant, jvm, threads, millis);
		Results results = bench.results();
		results.add(Figure.BY_OWN_KEYS, contestant, threads, round.perSecond());
		results.add(Figure.BY_OWN_KEYS_P99, contestant, threads, round.operations().percentile(99));
		results.add(Figure.BY_OWN_KEYS_CPU, contestant, threads, round.cpuMicrosPerOperation());
		results.add(Figure.BY_OWN_KEYS_REQUESTS, contestant, threads, round.requestsPerOperation());
	}

}
