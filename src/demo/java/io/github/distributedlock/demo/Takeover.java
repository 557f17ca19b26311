package io.github.distributedlock.demo;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.tck.History.Hold;

/**
 * How a lock went from a JVM that was killed to another one.
 *
 * @param killed the time of the kill
 * @param last the hold that the kill ended; nobody may have the lock before the deadline
 * of this hold
 * @param next the first hold after that
 */
record Takeover(long killed, Hold last, Hold next) {

	static Optional<Takeover> find(long killed, List<Hold> ofKilled, Collection<Hold> ofOthers) {
		return ofKilled.stream()
			.filter((hold) -> !hold.returned())
			.max(Comparator.comparingLong(Hold::from))
			.flatMap((last) -> ofOthers.stream()
				.filter((hold) -> hold.key().equals(last.key()) && hold.from() > last.from())
				.min(Comparator.comparingLong(Hold::from))
				.map((next) -> new Takeover(killed, last, next)));
	}

	/**
	 * The time from the kill to the next hold.
	 */
	long millis() {
		return TimeUnit.NANOSECONDS.toMillis(this.next.from() - this.killed);
	}

	/**
	 * Returns the rest of the lease that was certainly left at the kill.
	 */
	long leaseMillis() {
		return TimeUnit.NANOSECONDS.toMillis(this.last.until() - this.killed);
	}

	boolean isTooEarly() {
		return this.next.from() < this.last.until();
	}

}
