package io.github.distributedlock.benchmark;

import java.util.List;

/**
 * JVMs of some threads that want one of a few permits, and what those cost that wait
 * while all permits are taken.
 */
final class PermitsCase {

	static final String KEY = "permits";

	static final int PERMITS = 4;

	private static final List<Contestant> CONTESTANTS = List.of(Contestant.OURS, Contestant.OURS_LETTUCE,
			Contestant.REDISSON);

	private static final int JVMS = 4;

	private static final int THREADS = 4;

	private static final int WAITERS = 100;

	/** The time after which all waiters wait quietly. */
	private static final long SETTLE_MILLIS = 1500;

	void run(Bench bench) {
		for (Contestant contestant : bench.options().contestants()) {
			if (CONTESTANTS.contains(contestant)) {
				// One for each permit, and one that waits.
				List<WorkerJvm> jvms = bench.start(contestant, PERMITS + 1);
				try {
					contend(bench, contestant, jvms.subList(0, JVMS));
					idle(bench, contestant, jvms.subList(0, PERMITS), jvms.get(PERMITS));
				}
				finally {
					jvms.forEach(WorkerJvm::close);
				}
			}
		}
	}

	private void contend(Bench bench, Contestant contestant, List<WorkerJvm> jvms) {
		int millis = bench.options().size(2000, 500);
		new WarmUp(bench, contestant, THREADS, millis).run(jvms);
		Round.permits(bench, contestant, jvms, THREADS, millis);
		for (int i = 0; i < bench.options().size(3, 1); i++) {
			Round round = Round.permits(bench, contestant, jvms, THREADS, millis);
			bench.results().add(Figure.PERMITS, contestant, JVMS, round.perSecond());
			bench.results().add(Figure.PERMITS_SHARE, contestant, JVMS, 100 * round.smallestShare());
			bench.results().add(Figure.PERMITS_REQUESTS, contestant, JVMS, round.requestsPerOperation());
		}
	}

	private void idle(Bench bench, Contestant contestant, List<WorkerJvm> holders, WorkerJvm waiter) {
		bench.flush();
		holders.forEach((holder) -> holder.hold(KEY));
		waiter.await(KEY, WAITERS);
		Pauses.pause(SETTLE_MILLIS);
		int millis = bench.options().size(8000, 2000);
		ServerLoad before = bench.store().load();
		Pauses.pause(millis);
		ServerLoad load = bench.store().load().since(before);
		bench.results().add(Figure.PERMITS_IDLE, contestant, WAITERS, load.requests() * 1000.0 / millis);
		holders.forEach(WorkerJvm::release);
		waiter.drained();
	}

}
