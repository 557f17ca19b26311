package io.github.distributedlock.engine;

/**
 * A lease that the store granted or renewed. Counts from before the command was sent, so
 * it ends here before it ends there.
 *
 * @param sent when the command was sent
 * @param nanos how long the lease is
 * @param margin how much earlier it ends here
 */
record Lease(Moment sent, long nanos, long margin) {

	/**
	 * What is left of it. If the wall clock ran ahead, the machine may have been
	 * suspended, and the monotonic clock with it, but not the server's: then the wall
	 * clock counts.
	 */
	long left(Moment now) {
		return left(isSuspect(now) ? now.wall() - this.sent.wall() : now.nanos() - this.sent.nanos());
	}

	/**
	 * What is left of it by the monotonic clock alone.
	 */
	long monotonicLeft(Moment now) {
		return left(now.nanos() - this.sent.nanos());
	}

	boolean isSuspect(Moment now) {
		return (now.wall() - this.sent.wall()) - (now.nanos() - this.sent.nanos()) > this.margin;
	}

	/**
	 * What is left of it on the server at most.
	 */
	long leftOnServer(Moment now) {
		return monotonicLeft(now) + this.margin;
	}

	private long left(long elapsed) {
		return this.nanos - this.margin - elapsed;
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
