package io.github.distributedlock.benchmark;

import java.util.function.Consumer;

/**
 * Some figures that are measured together.
 *
 * @param name what the case is selected by
 * @param way measures
 */
record Case(String name, Consumer<Bench> way) {

	/** One thread, and 16 threads with a key each: nobody waits. By JMH. */
	static final Case OWN_KEYS = new Case("own-keys", (bench) -> {
		new CycleRounds(bench, Figure.OWN_KEYS, Cycle.OWN_KEYS, 1).run();
		new CycleRounds(bench, Figure.OWN_KEYS, Cycle.OWN_KEYS, 16).run();
	});

	/** 16 threads that want one key, by JMH. */
	static final Case ONE_KEY = new Case("one-key",
			(bench) -> new CycleRounds(bench, Figure.ONE_KEY, Cycle.ONE_KEY, 16).run());

	static final Case WAITERS = new Case("waiters", new WaitersCase()::run);

}
