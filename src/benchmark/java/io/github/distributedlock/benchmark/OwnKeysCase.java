package io.github.distributedlock.benchmark;

import java.util.List;

/**
 * One thread, and 16 threads with a key each: nobody waits. By JMH.
 */
final class OwnKeysCase implements Case {

	@Override
	public String name() {
		return "own-keys";
	}

	@Override
	public void run(Bench bench) {
		for (int threads : List.of(1, 16)) {
			new CycleRounds(bench, Figure.OWN_KEYS, Cycle.OWN_KEYS, threads).run();
		}
	}

}
