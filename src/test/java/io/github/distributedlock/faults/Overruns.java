package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.function.Supplier;

/**
 * By how much acquires take longer than they are to wait, and what the first one is busy
 * with that takes too long.
 */
final class Overruns {

	private final Map<Thread, Long> ends = new ConcurrentHashMap<>();

	private final LongAccumulator longest = new LongAccumulator(Math::max, 0);

	private volatile boolean counting;

	private volatile Throwable culprit;

	/**
	 * Counts from now on. What comes before opens connections and loads classes.
	 */
	void count() {
		this.counting = true;
	}

	/**
	 * Acquires.
	 * @param waitTime how long it is to take at most
	 * @param acquire which acquires
	 */
	<T> T in(Duration waitTime, Supplier<T> acquire) {
		long end = System.nanoTime() + waitTime.toNanos();
		this.ends.put(Thread.currentThread(), end);
		try {
			return acquire.get();
		}
		finally {
			this.ends.remove(Thread.currentThread());
			if (this.counting) {
				this.longest.accumulate(System.nanoTime() - end);
			}
		}
	}

	/**
	 * Looks whether somebody is over the limit.
	 */
	void look(Duration limit) {
		if (this.counting && this.culprit == null) {
			long now = System.nanoTime();
			this.ends.forEach((thread, end) -> {
				if (now - end > limit.toNanos()) {
					Throwable where = new Throwable("What took so long, on " + thread.getName());
					where.setStackTrace(thread.getStackTrace());
					this.culprit = where;
				}
			});
		}
	}

	Duration longest() {
		return Duration.ofNanos(this.longest.get());
	}

	/**
	 * Where the first acquire was that was seen over the limit, or {@code null}.
	 */
	Throwable culprit() {
		return this.culprit;
	}

}
