package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * What a row of the table promises of each trial. {@link #WHOLE} is what the library
 * promises; a row in which physics forbids a part of it says so by name.
 *
 * @param exclusive whether certain holds never overlap
 * @param lossless whether no holder loses its lock
 * @param remark what is to be said about the row
 */
record Promise(boolean exclusive, boolean lossless, String remark) {

	/** All of it. */
	static final Promise WHOLE = new Promise(true, false, "");

	/** All of it, and no holder loses its lock, since the fault is over before that. */
	static final Promise NOTHING_LOST = new Promise(true, true, "");

	/**
	 * The server loses what it was told, so that it may give a key away that is held. It
	 * is noticed at the next renewal.
	 */
	static final Promise SERVER_FORGETS = new Promise(false, false,
			"the server forgets who holds: overlap possible until the next renewal");

	/**
	 * How late anything may be besides the noise of the machine: several threads and a
	 * server have a part in it. Less than half of a command timeout, so that a second one
	 * would be seen.
	 */
	private static final Duration SLACK = Duration.ofMillis(75);

	/** How late a thread may be that has to wake another one. */
	private static final Duration TELLING = Duration.ofMillis(20);

	/** How late what several threads and a server have to do may be. */
	static Duration slack(Duration noise) {
		return SLACK.plus(noise.multipliedBy(2));
	}

	Promise withRemark(String remark) {
		return new Promise(this.exclusive, this.lossless, remark);
	}

	/**
	 * What of it a trial has broken.
	 * @return a sentence for each; none if it is kept
	 */
	List<String> brokenBy(Outcome outcome) {
		List<String> broken = new ArrayList<>();
		Duration late = slack(outcome.noise());
		if (this.exclusive && !outcome.overlaps().isEmpty()) {
			broken.add("held twice at the same time: " + outcome.overlaps());
		}
		if (!outcome.regressions().isEmpty()) {
			broken.add("fencing token not greater than before: " + outcome.regressions());
		}
		requireAtMost("a key stayed that nobody held", outcome.orphan(), Trial.LEASE.plus(late), broken);
		requireAtMost("an acquire took longer than its waitTime (" + outcome.seen() + ")", outcome.overrun(),
				Trial.COMMAND_TIMEOUT.plus(late), broken);
		if (this.lossless) {
			requireNone("locks lost", outcome.losses(), broken);
		}
		if (outcome.toldBefore() != null) {
			requireAtMost("another could have the key, and the holder was not told", outcome.toldBefore().negated(),
					TELLING.plus(outcome.noise().multipliedBy(2)), broken);
		}
		if (outcome.toldAfter() != null) {
			requireAtMost("the holder was not told that its key is gone", outcome.toldAfter(),
					Trial.LEASE.dividedBy(3).plus(Trial.COMMAND_TIMEOUT).plus(late), broken);
		}
		requireNone("keys left over that nothing will remove", outcome.keysLeft(), broken);
		requireNone("threads left over", outcome.threadsLeft(), broken);
		return broken;
	}

	private static void requireAtMost(String what, Duration seen, Duration limit, List<String> broken) {
		if (seen.compareTo(limit) > 0) {
			broken.add(what + " for " + seen.toMillis() + " ms, at most " + limit.toMillis() + " ms were promised");
		}
	}

	private static void requireNone(String what, int left, List<String> broken) {
		if (left > 0) {
			broken.add(left + " " + what);
		}
	}

}
