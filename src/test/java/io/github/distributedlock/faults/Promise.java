package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The promise of a row of the table for each trial. {@link #WHOLE} is the library's whole
 * promise; a row in which physics forbids a part of that says so by name.
 *
 * @param exclusive whether certain holds never overlap
 * @param lossless whether no holder loses its lock
 * @param fenced whether fencing tokens grow
 * @param remark the remark of the row
 */
record Promise(boolean exclusive, boolean lossless, boolean fenced, String remark) {

	/** The whole promise. */
	static final Promise WHOLE = new Promise(true, false, true, "");

	/**
	 * The whole promise, and no holder loses its lock, because the fault is over before
	 * that.
	 */
	static final Promise NOTHING_LOST = new Promise(true, true, true, "");

	/**
	 * The server loses data, and so may give away a key that is held. The next renewal
	 * notices that.
	 */
	static final Promise SERVER_FORGETS = new Promise(false, false, true,
			"the server forgets the holder: overlap possible until the next renewal");

	/**
	 * Two servers take writes for a moment, and neither knows of the other.
	 */
	static final Promise TWO_MASTERS = new Promise(false, false, false,
			"two masters: overlap possible, and tokens of both, until the new one is noticed");

	/**
	 * A lock may be lost whatever the library does if the machine is late by a third of
	 * the lease, after which the lease is renewed.
	 */
	private static final Duration TOO_MUCH_NOISE = Trial.LEASE.dividedBy(3);

	Promise withRemark(String remark) {
		return new Promise(this.exclusive, this.lossless, this.fenced, remark);
	}

	/**
	 * Returns the parts of this promise that a trial has broken.
	 * @return a sentence for each; none if the promise is kept
	 */
	List<String> brokenBy(Outcome outcome) {
		List<String> broken = new ArrayList<>();
		if (this.exclusive && !outcome.overlaps().isEmpty()) {
			broken.add("held twice at the same time: " + outcome.overlaps());
		}
		if (this.fenced && !outcome.regressions().isEmpty()) {
			broken.add("fencing token not greater than before: " + outcome.regressions());
		}
		if (this.lossless && outcome.noise().compareTo(TOO_MUCH_NOISE) < 0) {
			requireNone("locks lost", outcome.losses(), broken);
		}
		requireNone("keys left over that nothing will remove", outcome.keysLeft(), broken);
		requireNone("threads left over", outcome.threadsLeft(), broken);
		return broken;
	}

	private static void requireNone(String what, int left, List<String> broken) {
		if (left > 0) {
			broken.add(left + " " + what);
		}
	}

}
