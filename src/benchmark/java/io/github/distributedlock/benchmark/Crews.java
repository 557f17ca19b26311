package io.github.distributedlock.benchmark;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * JVMs of all contestants, which are there at the same time and take turns, so that a
 * noisy machine troubles all of them alike.
 */
final class Crews implements AutoCloseable {

	private final Map<Contestant, List<WorkerJvm>> jvms = new EnumMap<>(Contestant.class);

	private Crews() {
	}

	/**
	 * Starts them.
	 * @param bench whom
	 * @param count how many JVMs of each
	 * @return the JVMs, ready
	 */
	static Crews start(Bench bench, int count) {
		Crews crews = new Crews();
		try {
			bench.options()
				.contestants()
				.forEach((contestant) -> crews.jvms.put(contestant, bench.start(contestant, count)));
			return crews;
		}
		catch (RuntimeException | AssertionError ex) {
			crews.close();
			throw ex;
		}
	}

	/**
	 * Gives each contestant a turn.
	 */
	void forEach(BiConsumer<Contestant, List<WorkerJvm>> turn) {
		this.jvms.forEach(turn);
	}

	@Override
	public void close() {
		this.jvms.values().forEach((crew) -> crew.forEach(WorkerJvm::close));
	}

}
