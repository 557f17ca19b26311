package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The wall clock of an engine whose other clocks are real. The wall clock can be set
 * ahead, which is what an engine sees of a machine that was suspended.
 */
public final class WallClock {

	private final AtomicLong ahead = new AtomicLong();

	/**
	 * Builds an engine that goes by this clock.
	 * @param settings the settings of the engine
	 * @return the engine
	 */
	public LockEngine build(LockEngine.Builder settings) {
		EngineThreads threads = new EngineThreads(settings.callbackExecutor);
		return new LockEngine(settings, new Time(threads), threads, threads::close);
	}

	/**
	 * Sets the wall clock ahead, and leaves the monotonic clock.
	 * @param duration by how much more
	 */
	public void advance(Duration duration) {
		this.ahead.addAndGet(duration.toNanos());
	}

	private final class Time implements EngineTime {

		private final EngineTime real;

		private Time(EngineTime real) {
			this.real = real;
		}

		@Override
		public long nanoTime() {
			return this.real.nanoTime();
		}

		@Override
		public long wallNanos() {
			return this.real.wallNanos() + WallClock.this.ahead.get();
		}

		@Override
		public boolean await(Semaphore signal, long nanos) throws InterruptedException {
			return this.real.await(signal, nanos);
		}

		@Override
		public Runnable schedule(Runnable task, long delayNanos) {
			return this.real.schedule(task, delayNanos);
		}

	}

}
