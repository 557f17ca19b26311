package io.github.distributedlock.protocol;

import java.util.Collections;
import java.util.List;

import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.ModelKey;

/**
 * Fair requests, each with a ticket of its own, at one moment. A request, the thread and
 * the ticket are one number.
 *
 * @param requests how far each request is
 * @param local the requests that wait or hold, in the order in which they joined the
 * queues of their JVMs
 * @param key the key, as the server has it
 * @param messages the requests whose wake-ups are under way
 * @param late the requests whose registrations are under way, and were given up as
 * unanswered
 * @param dead the JVMs that have crashed
 * @param faultsLeft how much more may go wrong
 * @param isInOrder whether no request has overtaken an earlier one
 */
record Tickets(List<Phase> requests, List<Integer> local, ModelKey key, List<Integer> messages, List<Integer> late,
		List<Integer> dead, int faultsLeft, boolean isInOrder) implements Situation {

	enum Phase {

		IDLE, WAITING, HOLDING, ENDED

	}

	static Tickets of(int requests, int mostFaults) {
		return new Tickets(Collections.nCopies(requests, Phase.IDLE), List.of(), ModelKey.FREE, List.of(), List.of(),
				List.of(), mostFaults, true);
	}

	Phase phase(int request) {
		return this.requests.get(request);
	}

	Tickets in(int request, Phase phase) {
		return with(Lists.replaced(this.requests, request, phase),
				(phase == Phase.WAITING) ? Lists.with(this.local, request) : this.local);
	}

	private Tickets with(List<Phase> requests, List<Integer> local) {
		return new Tickets(requests, local, this.key, this.messages, this.late, this.dead, this.faultsLeft,
				this.isInOrder);
	}

	Tickets with(ModelKey key) {
		return new Tickets(this.requests, this.local, key, this.messages, this.late, this.dead, this.faultsLeft,
				this.isInOrder);
	}

	Tickets messages(List<Integer> messages) {
		return new Tickets(this.requests, this.local, this.key, messages, this.late, this.dead, this.faultsLeft,
				this.isInOrder);
	}

	Tickets late(List<Integer> late) {
		return new Tickets(this.requests, this.local, this.key, this.messages, late, this.dead, this.faultsLeft,
				this.isInOrder);
	}

	Tickets dead(int jvm) {
		return new Tickets(this.requests, this.local, this.key, this.messages, this.late, Lists.with(this.dead, jvm),
				this.faultsLeft, this.isInOrder);
	}

	Tickets afterFault() {
		return new Tickets(this.requests, this.local, this.key, this.messages, this.late, this.dead,
				this.faultsLeft - 1, this.isInOrder);
	}

	Tickets outOfOrder() {
		return new Tickets(this.requests, this.local, this.key, this.messages, this.late, this.dead, this.faultsLeft,
				false);
	}

	@Override
	public boolean isSafe() {
		for (int request = 0; request < this.requests.size(); request++) {
			if (phase(request) == Phase.HOLDING && !isOwner(request)) {
				return false;
			}
		}
		return true;
	}

	private boolean isOwner(int request) {
		Holder holder = this.key.holder();
		return holder != null && !holder.isReservation() && Owner.of(holder.name()).thread() == request;
	}

	@Override
	public boolean hasIdleWaiter() {
		return this.requests.contains(Phase.WAITING) && !this.requests.contains(Phase.HOLDING);
	}

}
