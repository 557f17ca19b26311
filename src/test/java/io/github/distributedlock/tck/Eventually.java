package io.github.distributedlock.tck;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Waits for what must come, in real time.
 */
final class Eventually {

	private static final long POLL_MILLIS = 10;

	private Eventually() {
	}

	static void within(Duration patience, String what, BooleanSupplier condition) {
		long begin = System.nanoTime();
		while (!condition.getAsBoolean()) {
			if (System.nanoTime() - begin > patience.toNanos()) {
				throw new AssertionError("Waited in vain for " + patience.toMillis() + " ms: " + what);
			}
			pause();
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

}
