package io.github.distributedlock.benchmark;

import java.util.List;

/**
 * Threads of one JVM wait for a lock that another JVM holds: their requests to the server
 * meanwhile, and the time until all of them have had the lock.
 */
final class WaitersCase {

	private static final List<Integer> WAITERS = List.of(1, 10, 25, 50, 100);

	private static final List<Integer> FEWER = List.of(10, 100);

	private static final int MOST = 100;

	private static final int HAND_OVERS = 20;

	/** The time after which all waiters wait quietly. */
	private static final long SETTLE_MILLIS = 1500;

	void run(Bench bench) {
		for (Contestant contestant : bench.options().contestants()) {
			List<WorkerJvm> jvms = bench.start(contestant, 2);
			try {
				measure(bench, contestant, jvms.get(0), jvms.get(1));
			}
			finally {
				jvms.forEach(WorkerJvm::close);
			}
		}
	}

	private void measure(Bench bench, Contestant contestant, WorkerJvm holder, WorkerJvm waiter) {
		new WarmUp(bench, contestant, 8, bench.options().size(bench.options().onDatabase() ? 1000 : 2000, 500))
			.run(List.of(holder, waiter));
		for (int i = 0; i < HAND_OVERS; i++) {
			drain(bench, contestant, holder, waiter, 1, Figure.HAND_OVER);
		}
		for (int round = 0; round < bench.options().size(2, 1); round++) {
			for (int waiters : bench.options().onDatabase() || bench.options().quick() ? FEWER : WAITERS) {
				drain(bench, contestant, holder, waiter, waiters, Figure.DRAIN);
			}
		}
		bench.flush();
		holder.hold("waited");
		waiter.await("waited", MOST);
		Pauses.pause(SETTLE_MILLIS);
		int millis = bench.options().size(8000, 2000);
		ServerLoad before = bench.store().load();
		Pauses.pause(millis);
		ServerLoad load = bench.store().load().since(before);
		bench.results().add(Figure.IDLE_REQUESTS, contestant, MOST, load.requests() * 1000.0 / millis);
		bench.results().add(Figure.IDLE_COMMANDS, contestant, MOST, load.commands() * 1000.0 / millis);
		holder.release();
		waiter.drained();
	}

	private void drain(Bench bench, Contestant contestant, WorkerJvm holder, WorkerJvm waiter, int waiters,
			Figure figure) {
		bench.flush();
		holder.hold("waited");
		waiter.await("waited", waiters);
		Pauses.pause(SETTLE_MILLIS / 3);
		long released = holder.release();
		bench.results().add(figure, contestant, waiters, (waiter.drained() - released) / 1000.0);
	}

}
