package io.github.distributedlock.benchmark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;

/**
 * How often contestants do a thing in a second, turn by turn, so that a noisy machine
 * troubles all of them alike.
 */
final class Throughput {

	private static final int ROUNDS = 7;

	private final int threads;

	private final long roundNanos;

	private final List<IntFunction<Runnable>> contestants = new ArrayList<>();

	private final List<double[]> results = new ArrayList<>();

	Throughput(int threads, long roundMillis) {
		this.threads = threads;
		this.roundNanos = TimeUnit.MILLISECONDS.toNanos(roundMillis);
	}

	/**
	 * Adds a contestant.
	 * @param operation makes the operation of a thread, by its number
	 */
	Throughput with(IntFunction<Runnable> operation) {
		this.contestants.add(operation);
		this.results.add(new double[ROUNDS]);
		return this;
	}

	/**
	 * Measures.
	 * @return the median of each contestant's operations per second
	 */
	double[] measure() {
		for (int round = -2; round < ROUNDS; round++) {
			for (int i = 0; i < this.contestants.size(); i++) {
				double perSecond = round(this.contestants.get(i));
				if (round >= 0) {
					this.results.get(i)[round] = perSecond;
				}
			}
		}
		return this.results.stream().mapToDouble(Throughput::median).toArray();
	}

	private double round(IntFunction<Runnable> contestant) {
		LongAdder operations = new LongAdder();
		CountDownLatch ready = new CountDownLatch(this.threads);
		List<Thread> running = new ArrayList<>();
		for (int number = 0; number < this.threads; number++) {
			Runnable operation = contestant.apply(number);
			Thread thread = new Thread(() -> operations.add(repeat(operation, ready)));
			thread.start();
			running.add(thread);
		}
		for (Thread thread : running) {
			join(thread);
		}
		return operations.sum() * 1e9 / this.roundNanos;
	}

	private long repeat(Runnable operation, CountDownLatch ready) {
		ready.countDown();
		long count = 0;
		for (long end = System.nanoTime() + this.roundNanos; System.nanoTime() < end; count++) {
			operation.run();
		}
		return count;
	}

	private static void join(Thread thread) {
		try {
			thread.join();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static double median(double[] values) {
		double[] sorted = values.clone();
		Arrays.sort(sorted);
		return sorted[sorted.length / 2];
	}

}
