package io.github.distributedlock.protocol;

import java.util.Collections;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Fair requests, each with a ticket of its own, at one moment. A request, its thread and
 * its ticket are one number.
 *
 * @param requests how far each one is
 * @param local those that wait, or have, in the order in which they queued up in their
 * JVMs
 * @param key what stands in {@code lock:{k}}, {@code null} if it is free
 * @param waiters what stands in {@code lock-waiters:{k}}, oldest first
 * @param messages whose wake-ups are under way
 * @param late whose registrations are under way, and were given up for unanswered
 * @param silent the JVMs that were not heard of for a second
 * @param ahead the JVMs that were heard of last at a time that is yet to come, since the
 * server's clock was set back
 * @param pardoned the JVMs that have said nothing since all were silent
 * @param dead the JVMs that have crashed
 * @param faultsLeft how much more may go wrong
 * @param isInOrder whether nobody has got ahead of one that came before
 */
record Tickets(List<Phase> requests, List<Integer> local, @Nullable Key key, List<Integer> waiters,
		List<Integer> messages, List<Integer> late, List<Integer> silent, List<Integer> ahead, List<Integer> pardoned,
		List<Integer> dead, int faultsLeft, boolean isInOrder) implements Situation {

	enum Phase {

		IDLE, WAITING, HOLDING, ENDED

	}

	/**
	 * What stands in the lock's key.
	 *
	 * @param of whose it is
	 * @param reserved whether it is only kept for that one
	 */
	record Key(int of, boolean reserved) {
	}

	static Tickets of(int requests, int mostFaults) {
		return new Tickets(Collections.nCopies(requests, Phase.IDLE), List.of(), null, List.of(), List.of(), List.of(),
				List.of(), List.of(), List.of(), List.of(), mostFaults, true);
	}

	Phase phase(int request) {
		return this.requests.get(request);
	}

	boolean isOwnedBy(int request) {
		return this.key != null && !this.key.reserved() && this.key.of() == request;
	}

	boolean isReservedFor(int request) {
		return this.key != null && this.key.reserved() && this.key.of() == request;
	}

	Tickets in(int request, Phase phase) {
		return with(Lists.replaced(this.requests, request, phase),
				(phase == Phase.WAITING) ? Lists.with(this.local, request) : this.local);
	}

	private Tickets with(List<Phase> requests, List<Integer> local) {
		return new Tickets(requests, local, this.key, this.waiters, this.messages, this.late, this.silent, this.ahead,
				this.pardoned, this.dead, this.faultsLeft, this.isInOrder);
	}

	Tickets with(@Nullable Key key, List<Integer> waiters) {
		return new Tickets(this.requests, this.local, key, waiters, this.messages, this.late, this.silent, this.ahead,
				this.pardoned, this.dead, this.faultsLeft, this.isInOrder);
	}

	Tickets messages(List<Integer> messages) {
		return new Tickets(this.requests, this.local, this.key, this.waiters, messages, this.late, this.silent,
				this.ahead, this.pardoned, this.dead, this.faultsLeft, this.isInOrder);
	}

	Tickets late(List<Integer> late) {
		return new Tickets(this.requests, this.local, this.key, this.waiters, this.messages, late, this.silent,
				this.ahead, this.pardoned, this.dead, this.faultsLeft, this.isInOrder);
	}

	Tickets silent(List<Integer> silent, List<Integer> pardoned) {
		return new Tickets(this.requests, this.local, this.key, this.waiters, this.messages, this.late, silent,
				this.ahead, pardoned, this.dead, this.faultsLeft, this.isInOrder);
	}

	Tickets ahead(List<Integer> ahead) {
		return new Tickets(this.requests, this.local, this.key, this.waiters, this.messages, this.late, this.silent,
				ahead, this.pardoned, this.dead, this.faultsLeft, this.isInOrder);
	}

	Tickets dead(int jvm) {
		return new Tickets(this.requests, this.local, this.key, this.waiters, this.messages, this.late, this.silent,
				this.ahead, this.pardoned, Lists.with(this.dead, jvm), this.faultsLeft, this.isInOrder);
	}

	Tickets afterFault() {
		return new Tickets(this.requests, this.local, this.key, this.waiters, this.messages, this.late, this.silent,
				this.ahead, this.pardoned, this.dead, this.faultsLeft - 1, this.isInOrder);
	}

	Tickets outOfOrder() {
		return new Tickets(this.requests, this.local, this.key, this.waiters, this.messages, this.late, this.silent,
				this.ahead, this.pardoned, this.dead, this.faultsLeft, false);
	}

	@Override
	public boolean isSafe() {
		for (int request = 0; request < this.requests.size(); request++) {
			if (phase(request) == Phase.HOLDING && !isOwnedBy(request)) {
				return false;
			}
		}
		return true;
	}

	@Override
	public boolean hasIdleWaiter() {
		return this.requests.contains(Phase.WAITING) && !this.requests.contains(Phase.HOLDING);
	}

}
