package io.github.distributedlock.protocol;

import io.github.distributedlock.protocol.Command.Kind;
import io.github.distributedlock.protocol.PlainCommands.Ending;
import io.github.distributedlock.protocol.Request.Phase;

/**
 * The steps beside the requests: in the background of each JVM ({@code
 * NotificationRouter}, {@code Withdrawals}, {@code Sweeper}), in the network, and on the
 * server.
 */
record BackgroundTransitions(Setup setup, Scripts scripts, PlainCommands plain) {

	void add(Transitions<State> transitions, State state) {
		for (int jvm = 0; jvm < state.jvms().size(); jvm++) {
			if (state.jvm(jvm).alive()) {
				messages(transitions, state, jvm);
				withdrawal(transitions, state, jvm);
				vacancy(transitions, state, jvm);
				crash(transitions, state, jvm);
			}
		}
		state.late().forEach((command) -> late(transitions, state, command));
		state.running().forEach((progress) -> running(transitions, state, progress));
		state.cleanUps().forEach((owner) -> cleanUp(transitions, state, owner));
		expiry(transitions, state);
		transitions.goesWrong(Fault.FLUSH, "server", "forgets everything",
				state.with(state.server().flushed(state.ghost().tokens())));
	}

	/**
	 * {@code NotificationSubscription} and {@code LocalQueue.wake}.
	 */
	private void messages(Transitions<State> transitions, State state, int jvm) {
		int count = state.messages().get(jvm);
		if (count > 0) {
			State arrived = state.messages(jvm, count - 1);
			Jvm woken = state.jvm(jvm).wake(!this.setup.has(Mutant.EARLY_WAKE_UP_FORGOTTEN));
			transitions.happens(name(jvm), "gets a wake-up", arrived.with(jvm, woken));
			transitions.goesWrong(Fault.LOST_MESSAGE, name(jvm), "does not get a wake-up", arrived);
		}
	}

	/**
	 * {@code Withdrawals}. An answer to the withdrawal makes no difference.
	 */
	private void withdrawal(Transitions<State> transitions, State state, int jvm) {
		Queue queue = state.jvm(jvm).queue();
		if (queue == null || queue.current() >= 0) {
			return;
		}
		State settled = state.with(jvm, state.jvm(jvm).queue(Queue::settled).leave(true));
		Command command = new Command(Kind.WITHDRAW, new Owner(jvm, Queue.WITHDRAWAL, 0));
		if (queue.current() == Queue.WITHDRAWN) {
			if (state.running(command.owner()) == null) {
				transitions.happens(name(jvm), "reads the answer to its withdrawal", settled);
			}
			return;
		}
		if (this.setup.plain()) {
			withdrawing(transitions,
					state.with(jvm, state.jvm(jvm).queue((withdrawal) -> withdrawal.current(Queue.WITHDRAWN))),
					StepProgress.of(command));
			return;
		}
		State done = this.scripts.run(state, command);
		transitions.happens(name(jvm), "withdraws",
				done.with(jvm, done.jvm(jvm).queue((withdrawal) -> withdrawal.current(Queue.WITHDRAWN))));
		transitions.goesWrong(Fault.LATE_COMMAND, name(jvm), "withdraws, and the command does not come through",
				settled.late(Lists.with(settled.late(), command)));
		transitions.goesWrong(Fault.REFUSED_COMMAND, name(jvm), "withdraws, and the command is refused", settled);
	}

	/**
	 * {@link #withdrawal} in several commands.
	 */
	private void withdrawing(Transitions<State> transitions, State state, StepProgress at) {
		int jvm = at.owner().jvm();
		this.plain.add(transitions, state, at, new Ending() {

			@Override
			public State answered(State state, StepProgress progress) {
				return state;
			}

			@Override
			public State failed(State state, boolean refused) {
				return state.with(jvm, state.jvm(jvm).queue(Queue::settled).leave(true));
			}

		});
	}

	/**
	 * Steps that take several commands, and belong to no request that is under way.
	 */
	private void running(Transitions<State> transitions, State state, StepProgress at) {
		if (at.unheard()) {
			State gone = state.without(at);
			transitions.happens(at.owner(), "unheard " + at.next() + " is carried out late",
					this.plain.run(gone, at).state());
			transitions.happens(at.owner(), "unheard " + at.next() + " never arrives", gone);
		}
		else if (at.step().kind() == Kind.WITHDRAW) {
			withdrawing(transitions, state, at);
		}
		else if (!state.isUnderWay(at.owner())) {
			cleaningUp(transitions, state, at);
		}
	}

	/**
	 * {@code Leases.declare} while nobody has the key.
	 */
	private void vacancy(Transitions<State> transitions, State state, int jvm) {
		OwnedKey left = state.jvm(jvm).ownedKey();
		if (left == null || !left.vacant()) {
			return;
		}
		boolean noticed = !this.setup.has(Mutant.LOSS_BETWEEN_HOLDS_UNNOTICED);
		boolean cleansUp = left.unsettled() && !this.setup.has(Mutant.NO_CLEAN_UP_BETWEEN_HOLDS);
		State lost = state.with(state.server().doomed(left.owner()))
			.cleanUps(cleansUp ? Lists.with(state.cleanUps(), left.owner()) : state.cleanUps());
		transitions.goesWrong(Fault.LOST_LEASE, name(jvm), "sees the deadline pass while nobody has the key",
				noticed ? lost.with(jvm, lost.jvm(jvm).ownedKey(null)) : lost);
	}

	private void crash(Transitions<State> transitions, State state, int jvm) {
		State crashed = state.with(jvm, state.jvm(jvm).crashed())
			.messages(jvm, 0)
			.running(state.running().stream().filter((step) -> step.unheard() || step.owner().jvm() != jvm).toList())
			.cleanUps(state.cleanUps().stream().filter((owner) -> owner.jvm() != jvm).toList());
		boolean watched = jvm == GhostState.WATCHED;
		transitions.goesWrong(Fault.CRASH, name(jvm), "dies",
				watched ? crashed.with(state.ghost().withdrawn(jvm)) : crashed);
	}

	private void late(Transitions<State> transitions, State state, Command command) {
		State arrived = state.late(Lists.without(state.late(), command));
		transitions.happens(command.owner(), "unheard " + command.kind() + " is carried out late",
				this.scripts.run(arrived, command));
		transitions.happens(command.owner(), "unheard " + command.kind() + " never arrives", arrived);
	}

	/**
	 * {@code Sweeper}. Goes on for a lease after the first answer, which is taken to be
	 * longer than any command is under way.
	 */
	private void cleanUp(Transitions<State> transitions, State state, Owner owner) {
		if (this.setup.plain()) {
			boolean goesOn = state.running().stream().anyMatch((command) -> command.mayTakeTheLockFor(owner));
			if (state.running(owner) == null) {
				cleaningUp(transitions, goesOn ? state : state.cleanUps(Lists.without(state.cleanUps(), owner)),
						StepProgress.of(new Command(Kind.RELEASE, owner)));
			}
			return;
		}
		State swept = this.scripts.run(state, new Command(Kind.RELEASE, owner));
		boolean goesOn = state.late().stream().anyMatch((command) -> command.mayTakeTheLockFor(owner));
		transitions.happens(owner, "is cleaned up after",
				goesOn ? swept : swept.cleanUps(Lists.without(swept.cleanUps(), owner)));
	}

	/**
	 * {@link #cleanUp} in several commands.
	 */
	private void cleaningUp(Transitions<State> transitions, State state, StepProgress at) {
		this.plain.add(transitions, state, at, new Ending() {

			@Override
			public State answered(State state, StepProgress progress) {
				return state;
			}

			@Override
			public State failed(State state, boolean refused) {
				return state.cleanUps(Lists.with(state.cleanUps(), at.owner()));
			}

		});
	}

	private void expiry(Transitions<State> transitions, State state) {
		if (this.setup.bestEffort() && state.running().stream().anyMatch(StepProgress::isAboutToChange)) {
			return; // Nobody begins to change a lock so near to the end.
		}
		State expired = state.with(state.server().value(null));
		if (state.server().value() instanceof Value.Owned owned) {
			Owner owner = owned.owner();
			if (owned.doomed() || isAbandoned(state, owner)) {
				transitions.happensInTime("server", "ends a lease", expired);
			}
			else if (!mayHold(state, owner)) {
				transitions.goesWrong(Fault.LOST_LEASE, "server", "ends the lease of a grant that was not heard",
						expired);
			}
		}
		if (state.server().value() instanceof Value.Reserved reserved && !this.setup.has(Mutant.RESERVATION_FOR_EVER)) {
			boolean wakes = state.running().stream().anyMatch((step) -> step.isAboutToWake(reserved.jvm()));
			if (wakes || state.messages().get(reserved.jvm()) > 0 || state.jvm(reserved.jvm()).isBusy()) {
				transitions.goesWrong(Fault.LOST_LEASE, "server", "ends a reservation early", expired);
			}
			else {
				transitions.happensInTime("server", "ends a reservation", expired);
			}
		}
	}

	/**
	 * Returns whether the owner's request believes in a hold of the lock, or may come to
	 * believe in one.
	 */
	private static boolean mayHold(State state, Owner owner) {
		Phase phase = state.request(owner).phase();
		StepProgress running = state.running(owner);
		return state.isOwner(owner) || phase == Phase.GRANTED
				|| (phase == Phase.ASKED && running != null && running.done());
	}

	/**
	 * Returns whether nobody will extend the owner's lease or give the key back.
	 */
	private static boolean isAbandoned(State state, Owner owner) {
		boolean underWay = state.isUnderWay(owner)
				&& (state.request(owner).phase() != Phase.LOST || state.isOwner(owner));
		return !underWay && !state.cleanUps().contains(owner) && state.running(owner) == null;
	}

	private static String name(int jvm) {
		return "J" + jvm;
	}

}
