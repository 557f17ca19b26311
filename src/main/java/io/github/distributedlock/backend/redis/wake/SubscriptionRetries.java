package io.github.distributedlock.backend.redis.wake;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * When a subscription that has failed is tried again: after 100 ms, doubling to 1 s, and
 * after a refusal, which may well stay, after 1 s, doubling to 30 s. Both begin anew when
 * the subscription had stood, or when commands that failed are answered again.
 * <p>
 * Safe for use by several threads.
 */
final class SubscriptionRetries {

	private static final long FIRST = TimeUnit.MILLISECONDS.toNanos(100);

	private static final long REFUSED = TimeUnit.SECONDS.toNanos(1);

	private static final long LONGEST_REFUSED = TimeUnit.SECONDS.toNanos(30);

	private final LongSupplier nanoTime;

	private boolean refused;

	private long pause;

	private long failedAt;

	SubscriptionRetries(LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
	}

	/**
	 * A try has failed.
	 * @param refused whether the server refused it
	 */
	synchronized void failed(boolean refused) {
		long longest = refused ? LONGEST_REFUSED : REFUSED;
		boolean again = this.pause > 0 && this.refused == refused;
		this.pause = again ? Math.min(2 * this.pause, longest) : refused ? REFUSED : FIRST;
		this.refused = refused;
		this.failedAt = this.nanoTime.getAsLong();
	}

	/**
	 * What failed before is over: the pause that has begun, and those after the next
	 * failures, are no longer than after the first one.
	 */
	synchronized void restart() {
		this.pause = Math.min(this.pause, this.refused ? REFUSED : FIRST);
	}

	/**
	 * The subscription had stood until now.
	 */
	synchronized void lost() {
		this.pause = 0;
		failed(false);
	}

	/**
	 * How long to wait until the next try.
	 * @return at most 0 if it is due
	 */
	synchronized long nanosLeft() {
		return this.pause - (this.nanoTime.getAsLong() - this.failedAt);
	}

}
