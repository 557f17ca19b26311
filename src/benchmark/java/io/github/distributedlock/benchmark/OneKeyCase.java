package io.github.distributedlock.benchmark;

/**
 * 16 threads that want one key, by JMH.
 */
final class OneKeyCase implements Case {

	@Override
	public String name() {
		return "one-key";
	}

	@Override
	public void run(Bench bench) {
		new CycleRounds(bench, Figure.ONE_KEY, Cycle.ONE_KEY, 16).run();
	}

}
