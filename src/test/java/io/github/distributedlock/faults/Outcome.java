package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BinaryOperator;

import io.github.distributedlock.tck.HistoryChecker.Overlap;

/**
 * The measurements of one or more trials.
 *
 * @param trials the number of trials
 * @param holds the number of locks that were acquired
 * @param overlaps the certain holds of a key that overlap
 * @param regressions the holds whose fencing token is not greater than an earlier one
 * @param orphan for how long at most a key stayed without a holder
 * @param overrun by how much at most an acquire took longer than the wait time
 * @param seen where that acquire was seen meanwhile
 * @param losses the number of holders that were told of the loss of their lock
 * @param toldBefore how long at least before the server could give a key to another the
 * holder was told that the lease could not be renewed; {@code null} if there was no such
 * holder
 * @param toldAfter how long at most after the fault a holder was told that the key was
 * gone; {@code null} if there was no such holder
 * @param keysLeft the keys that nothing will ever remove
 * @param threadsLeft the threads of the library, and of its clients, after the end
 * @param noise by how much at most a thread that only sleeps came late
 */
record Outcome(int trials, int holds, List<Overlap> overlaps, List<Overlap> regressions, Duration orphan,
		Duration overrun, String seen, int losses, Duration toldBefore, Duration toldAfter, int keysLeft,
		int threadsLeft, Duration noise) {

	/**
	 * The worst of both.
	 */
	Outcome and(Outcome other) {
		return new Outcome(this.trials + other.trials, this.holds + other.holds, both(this.overlaps, other.overlaps),
				both(this.regressions, other.regressions), longer(this.orphan, other.orphan),
				longer(this.overrun, other.overrun),
				(this.overrun.compareTo(other.overrun) > 0) ? this.seen : other.seen, this.losses + other.losses,
				either(this.toldBefore, other.toldBefore, Outcome::shorter),
				either(this.toldAfter, other.toldAfter, Outcome::longer), this.keysLeft + other.keysLeft,
				this.threadsLeft + other.threadsLeft, longer(this.noise, other.noise));
	}

	private static <T> List<T> both(List<T> first, List<T> second) {
		List<T> both = new ArrayList<>(first);
		both.addAll(second);
		return both;
	}

	private static <T> T either(T first, T second, BinaryOperator<T> of) {
		return (first == null) ? second : (second == null) ? first : of.apply(first, second);
	}

	private static Duration longer(Duration first, Duration second) {
		return (first.compareTo(second) > 0) ? first : second;
	}

	private static Duration shorter(Duration first, Duration second) {
		return (first.compareTo(second) < 0) ? first : second;
	}

}
