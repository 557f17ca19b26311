package io.github.distributedlock.engine.lease;

import java.util.concurrent.TimeUnit;

import io.github.distributedlock.engine.runtime.EngineTime;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes losses to the log: the first of each second by name, the others as one number,
 * since a store that is gone loses thousands at once. Safe for use by many threads.
 * <p>
 * Invariant: while losses are counted that were not told, an alarm is set that tells
 * them.
 */
final class LossLog {

	private static final Logger logger = LoggerFactory.getLogger(LossLog.class);

	private static final int MOST_NAMED = 10;

	private static final long PERIOD = TimeUnit.SECONDS.toNanos(1);

	private final EngineTime time;

	private long begin;

	private int named;

	private int counted;

	LossLog(EngineTime time) {
		this.time = time;
		this.begin = time.nanoTime();
	}

	void warn(String loss) {
		if (isNamed()) {
			logger.warn("{}", loss);
		}
	}

	private synchronized boolean isNamed() {
		long now = this.time.nanoTime();
		if (this.counted == 0 && now - this.begin >= PERIOD) {
			this.begin = now;
			this.named = 0;
		}
		if (this.named < MOST_NAMED) {
			this.named++;
			return true;
		}
		if (this.counted == 0 && !isAlarmSet(PERIOD - (now - this.begin))) {
			return true;
		}
		this.counted++;
		return false;
	}

	// Not once the engine has ended, nor without a thread for it.
	private boolean isAlarmSet(long delay) {
		try {
			this.time.schedule(this::tellCounted, delay);
			return true;
		}
		catch (RuntimeException | Error ex) {
			return false;
		}
	}

	/**
	 * Tells how many were not named.
	 */
	void tellCounted() {
		int count = takeCounted();
		if (count > 0) {
			logger.warn("{} more locks were lost within a second; each that was held was told to the listeners", count);
		}
	}

	private synchronized int takeCounted() {
		int count = this.counted;
		this.counted = 0;
		return count;
	}

}
