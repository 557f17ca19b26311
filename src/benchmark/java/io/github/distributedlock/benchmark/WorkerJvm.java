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

	private static final List<String> OPTIONS = List.of("-Xms256m", "-Xmx256m");

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private final JvmProcess process;

	private WorkerJvm(JvmProcess process) {
		this.process = process;
	}

	/**
	 * Starts one; {@link #awaitReady()} waits until it can be told something.
	 */
	static WorkerJvm start(Contestant contestant, int port, Path blackboard, int number) {
		return new WorkerJvm(JvmProcess.start(OPTIONS, Worker.class, Map.of(), contestant.name(), String.valueOf(port),
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

	Ran ran() {
		String[] parts = answer("ran ").split(" ");
		long[] counts = Arrays.stream(parts[0].split(",")).mapToLong(Long::parseLong).toArray();
		return new Ran(counts, Long.parseLong(parts[1]), Percentiles.parse(parts[2]));
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
	 * What the threads of a JVM did.
	 *
	 * @param counts how many operations of each thread ended in time
	 * @param holds how many operations there were, late ones too
	 * @param waits how long they waited
	 */
	record Ran(long[] counts, long holds, Percentiles waits) {

		long total() {
			return Arrays.stream(this.counts).sum();
		}

	}

}
