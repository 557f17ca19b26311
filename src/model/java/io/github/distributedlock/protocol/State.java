package io.github.distributedlock.protocol;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.github.distributedlock.protocol.Request.Phase;
import org.jspecify.annotations.Nullable;

/**
 * Everything at one moment.
 *
 * @param server the server
 * @param jvms the JVMs
 * @param messages how many wake-ups are under way to each JVM
 * @param late the commands that were given up for unanswered, and are still under way
 * @param running the steps of several commands that are under way, and single commands of
 * such that were given up for unanswered
 * @param cleanUps the owners for whom a release is to be repeated
 * @param faultsLeft how much more may go wrong
 * @param ghost what an observer remembers
 */
record State(Server server, List<Jvm> jvms, List<Integer> messages, List<Command> late, List<StepProgress> running,
		List<Owner> cleanUps, int faultsLeft, GhostState ghost) {

	static State first(Setup setup) {
		return new State(new Server(null, List.of(), 0, setup.clock()),
				setup.threads().stream().map(Jvm::with).toList(), Collections.nCopies(setup.threads().size(), 0),
				List.of(), List.of(), List.of(), setup.mostFaults(),
				new GhostState(-1, 0, List.of(), 0, 0, 0, true, true));
	}

	Jvm jvm(int jvm) {
		return this.jvms.get(jvm);
	}

	Request request(Owner owner) {
		return jvm(owner.jvm()).threads().get(owner.thread());
	}

	/**
	 * Returns whether the owner's request is under way in a living JVM, or the key was
	 * handed on there under the owner's token.
	 */
	boolean isUnderWay(Owner owner) {
		Request request = request(owner);
		return (request.number() == owner.request() && request.isUnderWay()) || isOwner(owner);
	}

	/**
	 * Returns whether a JVM believes that the key belongs to this token.
	 */
	boolean isOwner(Owner owner) {
		OwnedKey ownedKey = jvm(owner.jvm()).ownedKey();
		return ownedKey != null && ownedKey.owner().equals(owner);
	}

	/**
	 * Returns whether all requests have ended.
	 */
	boolean isOver() {
		return this.jvms.stream()
			.flatMap((jvm) -> jvm.threads().stream())
			.allMatch((request) -> request.phase() == Phase.ENDED);
	}

	/**
	 * The requests that threads make, or make next.
	 */
	List<Owner> owners() {
		List<Owner> owners = new ArrayList<>();
		for (int jvm = 0; jvm < this.jvms.size(); jvm++) {
			List<Request> threads = jvm(jvm).threads();
			for (int thread = 0; thread < threads.size(); thread++) {
				owners.add(new Owner(jvm, thread, threads.get(thread).number()));
			}
		}
		return owners;
	}

	List<Owner> owners(Phase phase) {
		return owners().stream().filter((owner) -> request(owner).phase() == phase).toList();
	}

	State with(Server server) {
		return new State(server, this.jvms, this.messages, this.late, this.running, this.cleanUps, this.faultsLeft,
				this.ghost);
	}

	State with(int index, Jvm jvm) {
		return new State(this.server, Lists.replaced(this.jvms, index, jvm), this.messages, this.late, this.running,
				this.cleanUps, this.faultsLeft, this.ghost);
	}

	State with(Owner owner, Request request) {
		return with(owner.jvm(), jvm(owner.jvm()).thread(owner.thread(), request));
	}

	State messages(int jvm, int count) {
		return new State(this.server, this.jvms, Lists.replaced(this.messages, jvm, count), this.late, this.running,
				this.cleanUps, this.faultsLeft, this.ghost);
	}

	State late(List<Command> late) {
		return new State(this.server, this.jvms, this.messages, late, this.running, this.cleanUps, this.faultsLeft,
				this.ghost);
	}

	/**
	 * The step of several commands that is under way for an owner.
	 */
	@Nullable StepProgress running(Owner owner) {
		return this.running.stream()
			.filter((progress) -> !progress.unheard() && progress.owner().equals(owner))
			.findFirst()
			.orElse(null);
	}

	State with(StepProgress progress) {
		return running(Lists.with(this.running, progress));
	}

	State without(StepProgress progress) {
		return running(Lists.without(this.running, progress));
	}

	State running(List<StepProgress> running) {
		return new State(this.server, this.jvms, this.messages, this.late, running, this.cleanUps, this.faultsLeft,
				this.ghost);
	}

	State cleanUps(List<Owner> cleanUps) {
		return new State(this.server, this.jvms, this.messages, this.late, this.running, cleanUps, this.faultsLeft,
				this.ghost);
	}

	State afterFault() {
		return new State(this.server, this.jvms, this.messages, this.late, this.running, this.cleanUps,
				this.faultsLeft - 1, this.ghost);
	}

	State with(GhostState ghost) {
		return new State(this.server, this.jvms, this.messages, this.late, this.running, this.cleanUps, this.faultsLeft,
				ghost);
	}

}
