package io.github.distributedlock.backend.redis.wake;

/**
 * Tells whether a subscription still hears. A connection that was dropped silently does
 * not end by itself, and sends nothing that could fail. So while a request waits, the
 * server is asked now and then for one more acknowledgement.
 * <p>
 * States: resting; asked, until the answer comes or the time for it is over.
 */
final class SubscriptionHeartbeat {

	private static final int TIMEOUTS_OF_REST = 5;

	private final long timeoutNanos;

	private boolean asked;

	private long since = System.nanoTime();

	SubscriptionHeartbeat(long timeoutNanos) {
		this.timeoutNanos = timeoutNanos;
	}

	/**
	 * A connection was opened, and knows nothing of what the one before was asked.
	 */
	synchronized void restart() {
		begin(false);
	}

	/**
	 * Looks at it.
	 * @return what is to be done
	 */
	synchronized Finding look() {
		long elapsed = System.nanoTime() - this.since;
		if (this.asked && elapsed >= this.timeoutNanos) {
			begin(false);
			return Finding.DEAD;
		}
		if (!this.asked && elapsed >= TIMEOUTS_OF_REST * this.timeoutNanos) {
			begin(true);
			return Finding.TO_BE_ASKED;
		}
		return Finding.FINE;
	}

	/**
	 * An acknowledgement has come.
	 * @return whether it was asked for
	 */
	synchronized boolean acknowledged() {
		boolean asked = this.asked;
		begin(false);
		return asked;
	}

	private void begin(boolean asked) {
		this.asked = asked;
		this.since = System.nanoTime();
	}

	enum Finding {

		FINE, TO_BE_ASKED, DEAD

	}

}
