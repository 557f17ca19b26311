package io.github.distributedlock.benchmark;

import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;

/**
 * Measures {@link Cycle} for all contestants, turn by turn, so that a noisy machine
 * troubles all of them alike.
 *
 * @param bench what to measure with
 * @param figure what is measured
 * @param keys whether they have one key
 * @param threads how many
 */
record CycleRounds(Bench bench, Figure figure, String keys, int threads) {

	void run() {
		for (int round = 0; round < this.bench.options().size(2, 1); round++) {
			for (Contestant contestant : this.bench.options().contestants()) {
				this.bench.flush();
				ChainedOptionsBuilder options = Jmh.options(Cycle.class, this.bench.options())
					.threads(this.threads)
					.param("contestant", contestant.name())
					.param("keys", this.keys)
					.jvmArgsPrepend("-D" + Cycle.PORT + "=" + this.bench.port());
				Jmh.run(options)
					.forEach((result) -> this.bench.results()
						.add(this.figure, contestant, this.threads, result.getPrimaryResult().getScore()));
			}
		}
	}

}
