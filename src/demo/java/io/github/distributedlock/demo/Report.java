package io.github.distributedlock.demo;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

import io.github.distributedlock.tck.History.Hold;
import io.github.distributedlock.tck.HistoryChecker;

/**
 * The result of the sale, for people, and in the last line for machines.
 *
 * @param unlocked the round without a lock
 * @param locked the round with a lock
 * @param killed the round in which a JVM was killed
 * @param takeover how the lock of that JVM went to another JVM, if that happened
 * @param holds when the lock was held in the last two rounds
 */
record Report(Round unlocked, Round locked, Round killed, Optional<Takeover> takeover, List<Hold> holds) {

	static String title(int units, String server) {
		return format("Flash sale: %,d units, %d JVMs with %d buyers each, one %s", units, FlashSale.JVMS,
				Buyers.NUMBER, server);
	}

	/**
	 * Returns whether the rounds with the lock sold each unit once, to one buyer after
	 * the other.
	 */
	boolean isExact() {
		return this.locked.isExact() && this.killed.isExact() && this.takeover.isPresent() && violations() == 0;
	}

	/**
	 * Returns how often something has happened that must never happen: two buyers in the
	 * lock at the same time, units sold that there are not, units sold outside of the
	 * lock. A lock that was taken before the lease of the killed JVM had run out overlaps
	 * that lease, and so counts.
	 */
	int violations() {
		int outside = Math.max(0, this.locked.sold() + this.killed.sold() - this.holds.size());
		return overlaps() + this.locked.oversold() + this.killed.oversold() + outside;
	}

	private int overlaps() {
		return HistoryChecker.overlaps(this.holds).size();
	}

	String result() {
		return format("RESULT unlocked_oversold=%d locked_sold=%d locked_oversold=%d takeover_ms=%d violations=%d",
				this.unlocked.oversold(), this.locked.sold(), this.locked.oversold(),
				this.takeover.map(Takeover::millis).orElse(-1L), violations());
	}

	@Override
	public String toString() {
		return format("""

				Round                          sold  oversold  by each JVM                 time
				1  without a lock          %s
				2  with @DistributedLock   %s
				3  the same, JVM 1 killed  %s

				1  Each buyer reads the stock, thinks, and writes one less than it was.
				   Others do so at the same time: %,d units were sold that never were.
				2  The same code in a method with @DistributedLock(key = "stock:#{#sku}").
				   %s
				3  %s
				   %s
				   The lock was held %,d times in rounds 2 and 3, %s.

				%s
				""", row(this.unlocked), row(this.locked), row(this.killed), this.unlocked.oversold(),
				verdict(this.locked), this.takeover.map(Report::story).orElse("NOBODY GOT THE LOCK OF JVM 1."),
				verdict(this.killed), this.holds.size(),
				(overlaps() == 0) ? "never by two at a time" : "ALSO BY TWO AT A TIME", result());
	}

	private static String row(Round round) {
		String each = round.sales().stream().map((sales) -> format("%,d", sales)).collect(Collectors.joining(" / "));
		return format("%,8d%,10d  %-22s%8.1f s", round.sold(), round.oversold(), each,
				round.time().toMillis() / 1000.0);
	}

	private static String verdict(Round round) {
		return round.isExact() ? "Each unit was sold exactly once."
				: format("WRONG: %,d units sold, %,d left of %,d.", round.sold(), round.left(), round.units());
	}

	private static String story(Takeover takeover) {
		return format("""
				JVM 1 was killed with the lock in its hand, whose lease had %,d ms to go.
				   Another JVM had it %,d ms after the kill, %s.""", takeover.leaseMillis(), takeover.millis(),
				takeover.isTooEarly() ? "TOO EARLY" : "not before the lease was over");
	}

	private static String format(String format, Object... arguments) {
		return String.format(Locale.ROOT, format, arguments);
	}

}
