package io.github.distributedlock.benchmark;

import java.util.List;

/**
 * Lets JVMs work until their compilers rest: two cores that compile for eight JVMs have
 * no time for the lock, and what is measured then is the compiler.
 */
record WarmUp(Bench bench, Contestant contestant, int threads, long millis) {

	// The part of a round in which a compiler may still work.
	private static final double RESTING = 0.1;

	private static final long PAUSE_MILLIS = 500;

	private static final int MOST_ROUNDS = 8;

	/**
	 * Lets them work in pairs, which are fast: what happens where JVMs meet and where
	 * they do not. Then all together.
	 */
	void run(List<WorkerJvm> jvms) {
		for (int i = 0; i < jvms.size(); i += 2) {
			List<WorkerJvm> pair = jvms.subList(i, Math.min(i + 2, jvms.size()));
			untilCompiled(pair, () -> {
				ownKeys(pair);
				oneKey(pair);
			});
		}
		untilCompiled(jvms, () -> oneKey(jvms));
	}

	/**
	 * Lets their threads work with keys of their own only.
	 */
	void runOwnKeys(List<WorkerJvm> jvms) {
		untilCompiled(jvms, () -> ownKeys(jvms));
	}

	private void ownKeys(List<WorkerJvm> jvms) {
		Round.ownKeys(this.bench, this.contestant, jvms, this.threads, this.millis);
	}

	private void oneKey(List<WorkerJvm> jvms) {
		Round.oneKey(this.bench, this.contestant, jvms, this.threads, this.millis, 0);
	}

	private void untilCompiled(List<WorkerJvm> jvms, Runnable round) {
		long compiled = compiledMillis(jvms);
		for (int i = 0; i < MOST_ROUNDS; i++) {
			long before = compiled;
			round.run();
			compiled = awaitCompiled(jvms);
			if (compiled - before < RESTING * this.millis * jvms.size()) {
				return;
			}
		}
	}

	// The compilers finish the requests of the round while nothing else wants the cores.
	private static long awaitCompiled(List<WorkerJvm> jvms) {
		long compiled = compiledMillis(jvms);
		while (true) {
			Pauses.pause(PAUSE_MILLIS);
			long now = compiledMillis(jvms);
			if (now == compiled) {
				return now;
			}
			compiled = now;
		}
	}

	private static long compiledMillis(List<WorkerJvm> jvms) {
		return jvms.stream().mapToLong(WorkerJvm::compiledMillis).sum();
	}

}
