package io.github.distributedlock.test;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * The lines that a process prints, read by a thread as they come.
 * <p>
 * Guarded by {@code this}: the lines, how many of them somebody has waited for, and
 * whether the process has closed its output. A change notifies all who wait.
 */
final class ProcessOutput {

	private final Thread reader;

	private final List<String> lines = new ArrayList<>();

	private int consumed;

	private boolean ended;

	ProcessOutput(Process process) {
		this.reader = new Thread(() -> read(process), "output-of-" + process.pid());
		this.reader.setDaemon(true);
		this.reader.start();
	}

	/**
	 * Waits for a line among those that nobody has waited for yet, and skips those before
	 * it.
	 * @param line tells the line
	 * @param timeout for how long to wait
	 * @return the line; empty if the time is over or there will be none
	 */
	synchronized Optional<String> await(Predicate<String> line, Duration timeout) {
		long deadline = System.nanoTime() + timeout.toNanos();
		while (true) {
			while (this.consumed < this.lines.size()) {
				String next = this.lines.get(this.consumed++);
				if (line.test(next)) {
					return Optional.of(next);
				}
			}
			long rest = deadline - System.nanoTime();
			if (this.ended || rest <= 0) {
				return Optional.empty();
			}
			await(rest);
		}
	}

	synchronized List<String> lines() {
		return List.copyOf(this.lines);
	}

	void awaitEnd(Duration timeout) throws InterruptedException {
		this.reader.join(timeout.toMillis());
	}

	private synchronized void await(long nanos) {
		try {
			// At least as long as the shortest wait there is.
			TimeUnit.NANOSECONDS.timedWait(this, Math.max(nanos, TimeUnit.MILLISECONDS.toNanos(1)));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while waiting for a line", ex);
		}
	}

	private void read(Process process) {
		try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
			for (String line = output.readLine(); line != null; line = output.readLine()) {
				add(line);
			}
		}
		catch (IOException ex) {
			add("(output lost: " + ex + ")");
		}
		finally {
			end();
		}
	}

	private synchronized void add(String line) {
		this.lines.add(line);
		notifyAll();
	}

	private synchronized void end() {
		this.ended = true;
		notifyAll();
	}

}
