package io.github.distributedlock.benchmark;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

import io.github.distributedlock.fixtures.JvmProcess;

/**
 * Tells a {@link Worker} what to do.
 */
final class WorkerJvm implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private final JvmProcess process;

	private WorkerJvm(JvmProcess process) {
		this.process = process;
	}

	/**
	 * Starts a JVM; {@link #awaitReady()} waits until the JVM takes orders.
	 */
	static WorkerJvm start(Contestant contestant, int port, Path blackboard, int number, int heapMegabytes) {
		// With the optimizing compiler, which the JVMs of tests do without.
		List<String> options = List.of("-Xms" + heapMegabytes + "m", "-Xmx" + heapMegabytes + "m",
				"-XX:TieredStopAtLevel=4");
		return new WorkerJvm(JvmProcess.start(options, Worker.class, Map.of(), contestant.name(), String.valueOf(port),
				blackboard.toString(), String.valueOf(number)));
	}

	void awaitReady() {
		answer("ready");
	}

	/**
	 * Starts threads that take a lock again and again; {@link #ran()} waits for them.
	 */
	void run(String key, int threads, long millis, long holdMicros) {
		this.process.send("run " + key + " " + threads + " " + millis + " " + holdMicros);
	}

	/**
	 * Starts threads that take permits again and again; {@link #ran()} waits for them.
	 */
	void runPermits(int threads, long millis) {
		this.process.send("run-permits " + PermitsCase.KEY + " " + threads + " " + millis);
	}

	/**
	 * Starts threads that take a lock of their own again and again; {@link #ran()} waits
	 * for them.
	 */
	void runOwn(int threads, long millis) {
		this.process.send("run-own " + threads + " " + millis);
	}

	Ran ran() {
		String[] parts = answer("ran ").split(" ");
		long[] counts = Arrays.stream(parts[0].split(",")).mapToLong(Long::parseLong).toArray();
		return new Ran(counts, Durations.parse(parts[1]), Durations.parse(parts[2]));
	}

	void hold(String key) {
		this.process.send("hold " + key);
		answer("held");
	}

	/**
	 * Lets go what is held.
	 * @return when, in microseconds
	 */
	long release() {
		this.process.send("release");
		return Long.parseLong(answer("released "));
	}

	void await(String key, int waiters) {
		this.process.send("wait " + key + " " + waiters);
		answer("waiting");
	}

	/**
	 * Waits until all who waited have had the lock.
	 * @return when, in microseconds
	 */
	long drained() {
		return Long.parseLong(answer("drained "));
	}

	void keep(int count) {
		this.process.send("keep " + count);
		answer("kept");
	}

	long cpuNanos() {
		this.process.send("cpu");
		return Long.parseLong(answer("cpu "));
	}

	/**
	 * Returns for how long the compilers have worked.
	 */
	long compiledMillis() {
		this.process.send("compiled");
		return Long.parseLong(answer("compiled "));
	}

	OptionalLong attempts() {
		this.process.send("attempts");
		long attempts = Long.parseLong(answer("attempts "));
		return (attempts >= 0) ? OptionalLong.of(attempts) : OptionalLong.empty();
	}

	@Override
	public void close() {
		this.process.close();
	}

	private String answer(String prefix) {
		return this.process.awaitLine((line) -> line.startsWith(prefix), prefix, PATIENCE).substring(prefix.length());
	}

	/**
	 * The work of the threads of a JVM.
	 *
	 * @param counts how many operations of each thread ended in time
	 * @param waits how long each operation waited, late ones too
	 * @param operations how long each operation took, the wait included
	 */
	record Ran(long[] counts, Durations waits, Durations operations) {

		long total() {
			return Arrays.stream(this.counts).sum();
		}

		/**
		 * How many operations there were, late ones too.
		 */
		long holds() {
			return this.operations.total();
		}

	}

}
