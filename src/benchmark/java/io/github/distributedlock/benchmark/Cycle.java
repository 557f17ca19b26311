package io.github.distributedlock.benchmark;

import java.util.concurrent.TimeUnit;

import io.github.distributedlock.benchmark.Locks.Mutex;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.ThreadParams;

/**
 * A lock and an unlock.
 */
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
public class Cycle {

	static final String PORT = "benchmark.port";

	static final String ONE_KEY = "one";

	static final String OWN_KEYS = "own";

	/**
	 * The state that the threads share.
	 */
	@State(Scope.Benchmark)
	public static class Shared {

		/** The name of a {@link Contestant}. */
		@Param("OURS")
		public String contestant = "";

		/** One key for all threads, or one for each thread. */
		@Param(ONE_KEY)
		public String keys = "";

		private Locks locks;

		@Setup
		public void open() {
			this.locks = Contestant.valueOf(this.contestant).open(Integer.getInteger(PORT));
		}

		@TearDown
		public void close() {
			this.locks.close();
		}

	}

	/**
	 * The state of each thread.
	 */
	@State(Scope.Thread)
	public static class Own {

		private Mutex mutex;

		@Setup
		public void create(Shared shared, ThreadParams thread) {
			String key = shared.keys.equals(ONE_KEY) ? ONE_KEY : OWN_KEYS + thread.getThreadIndex();
			this.mutex = shared.locks.mutex(key);
		}

	}

	@Benchmark
	public void cycle(Own own) {
		own.mutex.lock();
		own.mutex.unlock();
	}

}
