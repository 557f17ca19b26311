package io.github.distributedlock.protocol;

import java.util.List;

/**
 * A lease that is renewed without Lua, at one moment. The times are in ticks.
 *
 * @param left the time to live on the server, 0 if the lease is over
 * @param believed the rest of the lease in the holder's belief
 * @param underWay the renewals whose next command is yet to be carried out, or answered
 * @param unanswered the leases of changes that were not answered, and may be carried out
 * at any later time, even more than once
 */
record Renewals(int left, int believed, List<Renewal> underWay, List<Integer> unanswered) {

	static Renewals acquired(int lease) {
		return new Renewals(lease, lease, List.of(), List.of());
	}

	Renewals left(int left) {
		return new Renewals(left, this.believed, this.underWay, this.unanswered);
	}

	Renewals with(Renewal renewal) {
		return underWay(Lists.with(this.underWay, renewal));
	}

	Renewals without(Renewal renewal) {
		return underWay(Lists.without(this.underWay, renewal));
	}

	private Renewals underWay(List<Renewal> renewals) {
		return new Renewals(this.left, this.believed, renewals, this.unanswered);
	}

	Renewals unanswered(int lease) {
		return new Renewals(this.left, this.believed, this.underWay, Lists.with(this.unanswered, lease));
	}

	/**
	 * An answer was read.
	 * @param lease what the answer promises, 0 if the lease is lost
	 */
	Renewals believing(int lease) {
		int believed = (lease > 0 && this.believed > 0) ? Math.max(this.believed, lease) : 0;
		return new Renewals(this.left, believed, this.underWay, this.unanswered);
	}

	Renewals tick() {
		List<Renewal> older = this.underWay.stream().map(Renewal::older).toList();
		return new Renewals(Math.max(this.left - 1, 0), Math.max(this.believed - 1, 0), older, this.unanswered);
	}

	/**
	 * One renewal.
	 *
	 * @param lease the lease that is asked for
	 * @param age how long ago the renewal was sent
	 * @param next what happens next
	 */
	record Renewal(int lease, int age, Line next) {

		Renewal to(Line next) {
			return new Renewal(this.lease, this.age, next);
		}

		Renewal older() {
			return new Renewal(this.lease, Math.min(this.age + 1, this.lease), this.next);
		}

	}

	/**
	 * The commands, and the answers to the last one.
	 */
	enum Line {

		/**
		 * {@code PTTL lock}.
		 */
		LOOK,

		/**
		 * {@code GET lock}, if the key has that time to live already.
		 */
		WHOSE,

		/**
		 * {@code CompareAndSet} of the owner for the same owner with the lease.
		 */
		COMPARE_AND_SET,

		/**
		 * The answer that the lease is renewed.
		 */
		RENEWED,

		/**
		 * The answer that the lease is lost.
		 */
		LOST

	}

}
