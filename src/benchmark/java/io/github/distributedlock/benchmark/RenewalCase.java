package io.github.distributedlock.benchmark;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The cost of keeping locks that are held, with a lease of 30 seconds that is renewed
 * every 10: in JVMs of the contestants that renew, each on a server of its own.
 */
final class RenewalCase {

	private static final List<Contestant> RENEWING = List.of(Contestant.OURS, Contestant.OURS_LETTUCE,
			Contestant.REDISSON);

	private static final List<Integer> LOCKS = List.of(1, 10, 100, 1000, 10_000);

	private static final List<Integer> FEWER = List.of(1000, 10_000);

	private static final long PERIOD_MILLIS = 10_000;

	void run(Bench bench) {
		List<Contestant> contestants = RENEWING.stream().filter(bench.options().contestants()::contains).toList();
		List<Keeper> keepers = new ArrayList<>();
		try {
			for (int locks : bench.options().quick() ? FEWER : LOCKS) {
				contestants.forEach((contestant) -> keepers.add(new Keeper(contestant, bench, locks)));
			}
			// Code that runs once in a period takes minutes to be compiled; until then
			// the compilers need ten times the processor time of the renewal.
			Pauses.pause(PERIOD_MILLIS * bench.options().size(9, 1) + PERIOD_MILLIS / 2);
			for (int round = 0; round < bench.options().size(3, 1); round++) {
				keepers.forEach(Keeper::begin);
				Pauses.pause(PERIOD_MILLIS);
				keepers.forEach((keeper) -> keeper.end(bench.results(), PERIOD_MILLIS));
			}
		}
		finally {
			keepers.forEach(Keeper::close);
		}
	}

	/**
	 * A JVM that holds locks, and the server of that JVM.
	 */
	private static final class Keeper implements AutoCloseable {

		private final Contestant contestant;

		private final int locks;

		private final Store store;

		private final WorkerJvm jvm;

		private long cpuNanos;

		private ServerLoad load;

		Keeper(Contestant contestant, Bench bench, int locks) {
			this.contestant = contestant;
			this.locks = locks;
			this.store = bench.options().startStore();
			Path unused = bench.directory().resolve("unused");
			this.jvm = WorkerJvm.start(contestant, this.store.port(), unused, 0, Bench.MOST_HEAP_MEGABYTES);
			this.jvm.awaitReady();
			this.jvm.keep(locks);
			this.load = this.store.load();
		}

		void begin() {
			this.cpuNanos = this.jvm.cpuNanos();
			this.load = this.store.load();
		}

		void end(Results results, long millis) {
			double used = (this.jvm.cpuNanos() - this.cpuNanos) / 1e6;
			double usedByServer = this.store.load().since(this.load).cpuSeconds() * 1e3;
			results.add(Figure.RENEWAL, this.contestant, this.locks, 100 * used / millis);
			results.add(Figure.RENEWAL_SERVER, this.contestant, this.locks, 100 * usedByServer / millis);
		}

		@Override
		public void close() {
			this.jvm.close();
			this.store.close();
		}

	}

}
