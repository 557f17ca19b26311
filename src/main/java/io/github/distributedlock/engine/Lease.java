package io.github.distributedlock.engine;

import java.time.Duration;

/**
 * A lease that the store granted or renewed. Counts from before the command was sent, so
 * it ends here before it ends there.
 *
 * @param sent when the command was sent
 * @param sentWall the same by the wall clock
 * @param nanos how long the lease is
 */
record Lease(long sent, long sentWall, long nanos) {

	private static final long LEAST_MARGIN = Duration.ofMillis(10).toNanos();

	Lease(Moment sent, long nanos) {
		this(sent.nanos(), sent.wall(), nanos);
	}

	/**
	 * How much earlier than the server we take it for run out: clocks differ in speed,
	 * and the holder must learn of it before another can have the lock.
	 */
	long margin() {
		return Math.max(LEAST_MARGIN, this.nanos / 100);
	}

	/**
	 * What is left of it. If the wall clock ran ahead, the machine may have been
	 * suspended, and the monotonic clock with it, but not the server's: then the wall
	 * clock counts.
	 */
	long left(Moment now) {
		return isSuspect(now) ? this.nanos - margin() - (now.wall() - this.sentWall) : monotonicLeft(now);
	}

	/**
	 * What is left of it by the monotonic clock alone.
	 */
	long monotonicLeft(Moment now) {
		return this.nanos - margin() - elapsed(now);
	}

	/**
	 * When to renew it: after a third of it.
	 */
	long toRenewal(long now) {
		return this.nanos / 3 - (now - this.sent);
	}

	boolean isSuspect(Moment now) {
		return (now.wall() - this.sentWall) - elapsed(now) > margin();
	}

	/**
	 * What is left of it on the server at most.
	 */
	long leftOnServer(Moment now) {
		return this.nanos - elapsed(now);
	}

	private long elapsed(Moment now) {
		return now.nanos() - this.sent;
	}

	/**
	 * A point in time, on both clocks.
	 */
	record Moment(long nanos, long wall) {

		static Moment now(EngineTime time) {
			return new Moment(time.nanoTime(), time.wallNanos());
		}

	}

}
