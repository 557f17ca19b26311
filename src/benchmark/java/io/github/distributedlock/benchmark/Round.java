package io.github.distributedlock.benchmark;

import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;

import io.github.distributedlock.benchmark.WorkerJvm.Ran;

/**
 * One run of JVMs of a contestant, with what the server and the blackboard say about it.
 *
 * @param ran what the threads of each JVM did
 * @param millis for how long
 * @param server what the server did
 * @param cpuNanos the processor time that the JVMs used
 * @param handOvers how often the lock went from one JVM to another
 * @param attempts how often the server was asked for the lock, if that is known
 */
record Round(List<Ran> ran, long millis, ServerLoad server, long cpuNanos, long handOvers, OptionalLong attempts) {

	/**
	 * Threads that all want one key.
	 */
	static Round oneKey(Bench bench, Contestant contestant, List<WorkerJvm> jvms, int threads, long millis,
			long holdMicros) {
		Blackboard blackboard = bench.blackboard(contestant);
		long holds = blackboard.holds();
		Round round = of(bench, contestant, jvms, millis, (jvm) -> jvm.run("one", threads, millis, holdMicros));
		requireNoneLost(contestant, round.holds(), blackboard.holds() - holds);
		return round;
	}

	/**
	 * Threads of which each has a key of its own.
	 */
	static Round ownKeys(Bench bench, Contestant contestant, List<WorkerJvm> jvms, int threads, long millis) {
		return of(bench, contestant, jvms, millis, (jvm) -> jvm.runOwn(threads, millis));
	}

	/**
	 * Threads that all want one of a few permits.
	 */
	static Round permits(Bench bench, Contestant contestant, List<WorkerJvm> jvms, int threads, long millis) {
		return of(bench, contestant, jvms, millis, (jvm) -> jvm.runPermits(threads, millis));
	}

	private static Round of(Bench bench, Contestant contestant, List<WorkerJvm> jvms, long millis,
			Consumer<WorkerJvm> start) {
		bench.flush();
		Blackboard blackboard = bench.blackboard(contestant);
		long handOvers = blackboard.handOvers();
		OptionalLong attempts = attempts(jvms);
		long cpuNanos = cpuNanos(jvms);
		ServerLoad before = bench.store().load();
		jvms.forEach(start);
		List<Ran> ran = jvms.stream().map(WorkerJvm::ran).toList();
		ServerLoad load = bench.store().load().since(before);
		return new Round(ran, millis, load, cpuNanos(jvms) - cpuNanos, blackboard.handOvers() - handOvers,
				attempts.isPresent() ? OptionalLong.of(attempts(jvms).getAsLong() - attempts.getAsLong()) : attempts);
	}

	private static void requireNoneLost(Contestant contestant, long holds, long noted) {
		if (holds == noted) {
			return;
		}
		String message = contestant.label() + " let two hold the lock at once: of " + holds + " operations "
				+ (holds - noted) + " were overwritten";
		if (contestant.isOurs()) {
			throw new IllegalStateException(message);
		}
		System.err.println(message);
	}

	private static long cpuNanos(List<WorkerJvm> jvms) {
		return jvms.stream().mapToLong(WorkerJvm::cpuNanos).sum();
	}

	private static OptionalLong attempts(List<WorkerJvm> jvms) {
		long sum = 0;
		for (WorkerJvm jvm : jvms) {
			OptionalLong attempts = jvm.attempts();
			if (attempts.isEmpty()) {
				return attempts;
			}
			sum += attempts.getAsLong();
		}
		return OptionalLong.of(sum);
	}

	double perSecond() {
		return total() * 1000.0 / this.millis;
	}

	double commandsPerOperation() {
		return this.server.commands() / Math.max(1.0, holds());
	}

	double requestsPerOperation() {
		return this.server.requests() / Math.max(1.0, holds());
	}

	/**
	 * The processor time of an operation, in the JVMs and in the server.
	 */
	double cpuMicrosPerOperation() {
		return (this.cpuNanos / 1e3 + this.server.cpuSeconds() * 1e6) / Math.max(1.0, holds());
	}

	Durations waits() {
		return Durations.sum(this.ran.stream().map(Ran::waits).toList());
	}

	Durations operations() {
		return Durations.sum(this.ran.stream().map(Ran::operations).toList());
	}

	double slowestOverFastest() {
		long[] all = this.ran.stream().flatMapToLong((one) -> Arrays.stream(one.counts())).sorted().toArray();
		return all[0] / Math.max(1.0, all[all.length - 1]);
	}

	double smallestShare() {
		return this.ran.stream().mapToLong(Ran::total).min().orElse(0) / Math.max(1.0, total());
	}

	long holds() {
		return this.ran.stream().mapToLong(Ran::holds).sum();
	}

	private long total() {
		return this.ran.stream().mapToLong(Ran::total).sum();
	}

}
