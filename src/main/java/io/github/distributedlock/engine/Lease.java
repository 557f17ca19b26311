package io.github.distributedlock.engine;

import java.time.Duration;

/**
 * A lease that the store granted or renewed. A lease counts from before the command was
 * sent, so that the lease ends here before the lease on the server does.
 *
 * @param sent when the command was sent
 * @param sentWall the same moment by the wall clock
 * @param nanos how long the lease is
 */
record Lease(long sent, long sentWall, long nanos) {

	private static final long LEAST_MARGIN = Duration.ofMillis(10).toNanos();

	Lease(Moment sent, long nanos) {
		this(sent.nanos(), sent.wall(), nanos);
	}

	/**
	 * Returns how much earlier than the server this JVM takes the lease for run out:
	 * clocks differ in speed, and the holder must learn of the end before another owner
	 * can have the lock.
	 */
	long margin() {
		return Math.max(LEAST_MARGIN, this.nanos / 100);
	}

	/**
	 * Returns what is left of the lease. If the wall clock ran ahead, the machine may
	 * have been suspended, and the monotonic clock with the machine, but not the server's
	 * clock: then the wall clock counts.
	 */
	long left(Moment now) {
		return isSuspect(now) ? this.nanos - margin() - (now.wall() - this.sentWall) : monotonicLeft(now);
	}

	/**
	 * Returns what is left of the lease by the monotonic clock alone.
	 */
	long monotonicLeft(Moment now) {
		return this.nanos - margin() - elapsed(now);
	}

	/**
	 * Returns the time until the renewal is due: after a third of the lease.
	 */
	long toRenewal(long now) {
		return this.nanos / 3 - (now - this.sent);
	}

	boolean isSuspect(Moment now) {
		return (now.wall() - this.sentWall) - elapsed(now) > margin();
	}

	/**
	 * Returns what is left of the lease on the server at most.
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
