package io.github.distributedlock.backend.jdbc;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Decides when to probe whether a server or a pool that hangs answers again. One probe
 * runs at a time, since a probe may hang as well, and after each probe without an answer
 * the pause is twice as long. Safe for use by many threads.
 */
final class Probes {

	private static final int LONGEST_PAUSE = 6;

	private final long unit;

	private final ReentrantLock mutex = new ReentrantLock();

	/**
	 * The binary logarithm of the pause until the next probe, in units. The mutex guards
	 * this field and the time of the next probe.
	 */
	private int pause;

	private long next = System.nanoTime();

	/**
	 * Creates the probes. The first probe is due at once.
	 * @param unit the length of half of the first pause
	 */
	Probes(Duration unit) {
		this.unit = unit.toNanos();
	}

	/**
	 * Begins a probe, which the same thread has to {@linkplain #end end}.
	 * @return {@code false} if no probe is due, or a probe is under way
	 */
	boolean tryBegin() {
		if (!this.mutex.tryLock()) {
			return false;
		}
		if (this.next - System.nanoTime() <= 0) {
			return true;
		}
		this.mutex.unlock();
		return false;
	}

	void end(boolean answered) {
		if (answered) {
			this.pause = 0;
		}
		else {
			this.pause = Math.min(this.pause + 1, LONGEST_PAUSE);
			this.next = System.nanoTime() + (this.unit << this.pause);
		}
		this.mutex.unlock();
	}

}
