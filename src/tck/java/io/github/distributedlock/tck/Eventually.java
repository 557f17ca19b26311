package io.github.distributedlock.tck;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Waits for what must come, in real time, of which only that counts in which this machine
 * lets the waiting thread run.
 */
final class Eventually {

	private static final long POLL_MILLIS = 10;

	/**
	 * Counts at most this much of a poll. A longer poll waits for the store or for the
	 * processor.
	 */
	private static final long LONGEST_POLL = TimeUnit.MILLISECONDS.toNanos(100);

	private Eventually() {
	}

	static void within(Duration patience, String what, BooleanSupplier condition) {
		long waited = 0;
		long last = System.nanoTime();
		while (!condition.getAsBoolean()) {
			if (waited > patience.toNanos()) {
				throw new WaitedInVain(Duration.ofNanos(waited), what);
			}
			pause();
			long now = System.nanoTime();
			waited += Math.min(now - last, LONGEST_POLL);
			last = now;
		}
	}

	static void pause() {
		try {
			TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while waiting", ex);
		}
	}

	/**
	 * An event that must come has not come.
	 */
	static final class WaitedInVain extends AssertionError {

		private static final long serialVersionUID = 1;

		private final Duration time;

		private WaitedInVain(Duration time, String what) {
			super("Waited in vain for " + time.toMillis() + " ms: " + what);
			this.time = time;
		}

		/**
		 * For how long the wait has lasted, as far as that counts.
		 */
		Duration time() {
			return this.time;
		}

	}

}
