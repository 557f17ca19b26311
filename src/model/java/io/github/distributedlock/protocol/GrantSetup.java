package io.github.distributedlock.protocol;

import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

import io.github.distributedlock.backend.Waiter;

/**
 * A setup of the {@link GrantProtocol}.
 *
 * @param requests how many requests each front has, one after another
 * @param jvms the JVM of each front
 * @param fair the fronts whose requests are fair, each with a ticket
 * @param reserving the fronts whose scripts know of no grants
 * @param fenced the fronts whose second request may not be granted
 * @param timely whether time passes only while nobody has anything to do; otherwise each
 * step may take any time
 * @param lease the lease of each hold
 * @param grant the lease of a grant before its renewal
 * @param holding for how long a lock is held, if everything is in time
 * @param margin by how much a holder's deadline is earlier
 * @param mostFaults how much can go wrong in a run
 * @param faults the kinds of faults
 * @param broken the rules that are broken: of JVMs, and of the server
 */
record GrantSetup(List<Integer> requests, List<Integer> jvms, Set<Integer> fair, Set<Integer> reserving,
		Set<Integer> fenced, boolean timely, int lease, int grant, int holding, int margin, int mostFaults,
		Set<Fault> faults, Set<Enum<?>> broken) {

	/**
	 * How long a key stays reserved.
	 */
	static final int RESERVATION = 1;

	/**
	 * After how long a waiter polls, and a holder gives back, if everything is in time.
	 */
	static final int POLL = 1;

	/**
	 * The lease if everything is in time: longer than the polls that all faults of a run
	 * may cost.
	 */
	static final int LEASE_IN_TIME = 5;

	/**
	 * A JVM for each of these fronts, and steps that may take any time.
	 */
	static GrantSetup requests(Integer... requests) {
		List<Integer> jvms = IntStream.range(0, requests.length).boxed().toList();
		return new GrantSetup(List.of(requests), jvms, Set.of(), Set.of(), Set.of(), false, 2, 2, POLL, 0, 0, Set.of(),
				Set.of());
	}

	GrantSetup inJvms(Integer... jvms) {
		return new GrantSetup(this.requests, List.of(jvms), this.fair, this.reserving, this.fenced, this.timely,
				this.lease, this.grant, this.holding, this.margin, this.mostFaults, this.faults, this.broken);
	}

	GrantSetup fair(Integer... fair) {
		return new GrantSetup(this.requests, this.jvms, Set.of(fair), this.reserving, this.fenced, this.timely,
				this.lease, this.grant, this.holding, this.margin, this.mostFaults, this.faults, this.broken);
	}

	GrantSetup reserving(Integer... reserving) {
		return new GrantSetup(this.requests, this.jvms, this.fair, Set.of(reserving), this.fenced, this.timely,
				this.lease, this.grant, this.holding, this.margin, this.mostFaults, this.faults, this.broken);
	}

	GrantSetup fenced(Integer... fenced) {
		return new GrantSetup(this.requests, this.jvms, this.fair, this.reserving, Set.of(fenced), this.timely,
				this.lease, this.grant, this.holding, this.margin, this.mostFaults, this.faults, this.broken);
	}

	/**
	 * With time that passes only while nobody has anything to do.
	 */
	GrantSetup inTime() {
		return new GrantSetup(this.requests, this.jvms, this.fair, this.reserving, this.fenced, true, LEASE_IN_TIME,
				LEASE_IN_TIME, this.holding, this.margin, this.mostFaults, this.faults, this.broken);
	}

	GrantSetup lease(int lease, int margin) {
		return new GrantSetup(this.requests, this.jvms, this.fair, this.reserving, this.fenced, this.timely, lease,
				lease, this.holding, margin, this.mostFaults, this.faults, this.broken);
	}

	/**
	 * With a shorter lease of a grant.
	 */
	GrantSetup granting(int grant, int holding) {
		return new GrantSetup(this.requests, this.jvms, this.fair, this.reserving, this.fenced, this.timely, this.lease,
				grant, holding, this.margin, this.mostFaults, this.faults, this.broken);
	}

	GrantSetup faults(int most, Fault... faults) {
		return new GrantSetup(this.requests, this.jvms, this.fair, this.reserving, this.fenced, this.timely, this.lease,
				this.grant, this.holding, this.margin, most, Set.of(faults), this.broken);
	}

	GrantSetup without(Enum<?> rule) {
		return new GrantSetup(this.requests, this.jvms, this.fair, this.reserving, this.fenced, this.timely, this.lease,
				this.grant, this.holding, this.margin, this.mostFaults, this.faults, Sets.with(this.broken, rule));
	}

	/**
	 * Returns whether each run of this setup is a run of a larger one, where as much can
	 * go wrong, and more.
	 */
	boolean isPartOf(GrantSetup larger) {
		return larger.mostFaults >= this.mostFaults && larger.faults.containsAll(this.faults)
				&& larger.faults(this.mostFaults, this.faults.toArray(Fault[]::new)).equals(this);
	}

	boolean holds(GrantRule rule) {
		return !this.broken.contains(rule);
	}

	/**
	 * The time that a holder may believe in, from the moment when the holder asked.
	 */
	int believed() {
		return this.lease - (holds(GrantRule.MARGIN_COVERS_DRIFT) ? this.margin : 0);
	}

	/**
	 * The lease that a waiter claims for a grant.
	 */
	int granted() {
		return holds(GrantRule.SHORT_AT_FIRST) ? this.grant : this.lease;
	}

	/**
	 * Returns the rest of a lease that was granted, if so much would be left of a full
	 * one.
	 */
	int leftOfGrant(int left) {
		return holds(GrantRule.COUNTED_AS_GRANTED) ? left - this.lease + granted() : left;
	}

	/**
	 * Returns whether a lease with so much left is to be renewed: a grant after a third
	 * of the time, and a full lease when no more than that is left.
	 */
	boolean isRenewalDue(int left) {
		int planned = holds(GrantRule.RENEWED_AS_GRANTED) ? this.grant : this.lease;
		return this.grant < this.lease && left > 0 && this.grant - left >= (planned + 2) / 3;
	}

	/**
	 * Returns the waiter of an owner: the ticket, or the front.
	 */
	Waiter waiterOf(Owner owner) {
		String instance = Owner.instance(owner.jvm());
		return isTicket(owner) ? Waiter.fair(instance, owner.token()) : Waiter.exclusive(instance);
	}

	/**
	 * Returns for whom a waiter waits: the owner of a ticket, or the front of the JVM
	 * whose requests are not fair.
	 */
	Owner ownerOf(Waiter waiter) {
		if (waiter.ticket() != null) {
			return Owner.of(waiter.ticket());
		}
		int front = 0;
		int jvm = Owner.jvm(waiter.instance());
		while (this.jvms.get(front) != jvm || this.fair.contains(front)) {
			front++;
		}
		return new Owner(jvm, front, 0);
	}

	boolean isTicket(Owner owner) {
		return this.fair.contains(owner.thread());
	}

	boolean mayBeGranted(Owner owner) {
		return !this.reserving.contains(owner.thread())
				&& !(this.fenced.contains(owner.thread()) && owner.request() == 2);
	}

	@Override
	public String toString() {
		return "grants, requests " + this.requests + " in JVMs " + this.jvms + some(", fair ", this.fair)
				+ some(", reserving ", this.reserving) + some(", fenced ", this.fenced)
				+ (this.timely ? ", timely" : "")
				+ ((this.grant < this.lease) ? ", grants of " + this.grant + " of " + this.lease : "")
				+ ((this.margin > 0) ? ", margin " + this.margin : "")
				+ ((this.mostFaults > 0) ? ", at most " + this.mostFaults + " of " + this.faults : "")
				+ some(", without ", this.broken);
	}

	private static String some(String what, Set<?> some) {
		return some.isEmpty() ? "" : what + some;
	}

}
