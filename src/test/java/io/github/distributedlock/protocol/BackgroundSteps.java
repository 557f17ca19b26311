package io.github.distributedlock.protocol;

import io.github.distributedlock.protocol.Command.Kind;
import io.github.distributedlock.protocol.PlainSteps.Ending;
import io.github.distributedlock.protocol.Request.Phase;

/**
 * What happens beside the requests: in the background of each JVM ({@code WakeUps},
 * {@code Withdrawals}, {@code Sweeper}), in the network, and on the server.
 */
final class BackgroundSteps {

	private final Setup setup;

	private final Scripts scripts;

	private final PlainSteps plain;

	BackgroundSteps(Setup setup, Scripts scripts, PlainSteps plain) {
		this.setup = setup;
		this.scripts = scripts;
		this.plain = plain;
	}

	void add(Steps<State> steps, State state) {
		for (int jvm = 0; jvm < state.jvms().size(); jvm++) {
			if (state.jvm(jvm).alive()) {
				messages(steps, state, jvm);
				withdrawal(steps, state, jvm);
				vacancy(steps, state, jvm);
				crash(steps, state, jvm);
			}
		}
		state.late().forEach((command) -> late(steps, state, command));
		state.running().forEach((progress) -> running(steps, state, progress));
		state.errands().forEach((owner) -> cleanUp(steps, state, owner));
		expiry(steps, state);
		steps.goesWrong(Fault.FLUSH, "server", "forgets everything",
				state.with(state.server().flushed(state.witness().tokens())));
	}

	/**
	 * {@code WakeSubscription} and {@code LocalQueue.wake}.
	 */
	private void messages(Steps<State> steps, State state, int jvm) {
		int count = state.messages().get(jvm);
		if (count > 0) {
			State arrived = state.messages(jvm, count - 1);
			Jvm woken = state.jvm(jvm).wake(!this.setup.has(Mutant.EARLY_WAKE_UP_FORGOTTEN));
			steps.happens(name(jvm), "gets a wake-up", arrived.with(jvm, woken));
			steps.goesWrong(Fault.LOST_MESSAGE, name(jvm), "does not get a wake-up", arrived);
		}
	}

	/**
	 * {@code Withdrawals}. Whether it was answered makes no difference.
	 */
	private void withdrawal(Steps<State> steps, State state, int jvm) {
		Queue queue = state.jvm(jvm).queue();
		if (queue == null || queue.current() >= 0) {
			return;
		}
		State settled = state.with(jvm, state.jvm(jvm).queue(Queue::settled).leave(true));
		Command command = new Command(Kind.WITHDRAW, new Owner(jvm, Queue.WITHDRAWAL, 0));
		if (queue.current() == Queue.WITHDRAWN) {
			if (state.running(command.owner()) == null) {
				steps.happens(name(jvm), "reads the answer to its withdrawal", settled);
			}
			return;
		}
		if (this.setup.plain()) {
			withdrawing(steps,
					state.with(jvm, state.jvm(jvm).queue((withdrawal) -> withdrawal.current(Queue.WITHDRAWN))),
					Progress.of(command));
			return;
		}
		State done = this.scripts.run(state, command);
		steps.happens(name(jvm), "withdraws",
				done.with(jvm, done.jvm(jvm).queue((withdrawal) -> withdrawal.current(Queue.WITHDRAWN))));
		steps.goesWrong(Fault.LATE_COMMAND, name(jvm), "withdraws, and the command does not come through",
				settled.late(Lists.with(settled.late(), command)));
		steps.goesWrong(Fault.REFUSED_COMMAND, name(jvm), "withdraws, and the command is refused", settled);
	}

	/**
	 * {@link #withdrawal} in several commands.
	 */
	private void withdrawing(Steps<State> steps, State state, Progress at) {
		int jvm = at.owner().jvm();
		this.plain.add(steps, state, at, new Ending() {

			@Override
			public State answered(State state, Progress progress) {
				return state;
			}

			@Override
			public State failed(State state, boolean refused) {
				return state.with(jvm, state.jvm(jvm).queue(Queue::settled).leave(true));
			}

		});
	}

	/**
	 * What goes on in several commands, other than for a request that is under way.
	 */
	private void running(Steps<State> steps, State state, Progress at) {
		if (at.unheard()) {
			State gone = state.without(at);
			steps.happens(at.owner(), "unheard " + at.next() + " is carried out late",
					this.plain.run(gone, at).state());
			steps.happens(at.owner(), "unheard " + at.next() + " never arrives", gone);
		}
		else if (at.step().kind() == Kind.WITHDRAW) {
			withdrawing(steps, state, at);
		}
		else if (!state.isUnderWay(at.owner())) {
			cleaningUp(steps, state, at);
		}
	}

	/**
	 * {@code Losses.declare} while nobody has the key.
	 */
	private void vacancy(Steps<State> steps, State state, int jvm) {
		Tenure left = state.jvm(jvm).tenure();
		if (left == null || !left.vacant()) {
			return;
		}
		boolean noticed = !this.setup.has(Mutant.LOSS_BETWEEN_HOLDS_UNNOTICED);
		boolean cleansUp = left.unsettled() && !this.setup.has(Mutant.NO_CLEAN_UP_BETWEEN_HOLDS);
		State lost = state.with(state.server().doomed(left.owner()))
			.errands(cleansUp ? Lists.with(state.errands(), left.owner()) : state.errands());
		steps.goesWrong(Fault.LOST_LEASE, name(jvm), "sees the deadline pass while nobody has the key",
				noticed ? lost.with(jvm, lost.jvm(jvm).tenure(null)) : lost);
	}

	private void crash(Steps<State> steps, State state, int jvm) {
		State crashed = state.with(jvm, state.jvm(jvm).crashed())
			.messages(jvm, 0)
			.running(state.running().stream().filter((step) -> step.unheard() || step.owner().jvm() != jvm).toList())
			.errands(state.errands().stream().filter((owner) -> owner.jvm() != jvm).toList());
		boolean watched = jvm == Witness.WATCHED;
		steps.goesWrong(Fault.CRASH, name(jvm), "dies",
				watched ? crashed.with(state.witness().withdrawn(jvm)) : crashed);
	}

	private void late(Steps<State> steps, State state, Command command) {
		State arrived = state.late(Lists.without(state.late(), command));
		steps.happens(command.owner(), "unheard " + command.kind() + " is carried out late",
				this.scripts.run(arrived, command));
		steps.happens(command.owner(), "unheard " + command.kind() + " never arrives", arrived);
	}

	/**
	 * {@code Sweeper}. Goes on for a lease after the first answer, which is taken to be
	 * longer than any command is under way.
	 */
	private void cleanUp(Steps<State> steps, State state, Owner owner) {
		if (this.setup.plain()) {
			boolean goesOn = state.running().stream().anyMatch((command) -> command.mayTakeTheLockFor(owner));
			if (state.running(owner) == null) {
				cleaningUp(steps, goesOn ? state : state.errands(Lists.without(state.errands(), owner)),
						Progress.of(new Command(Kind.RELEASE, owner)));
			}
			return;
		}
		State swept = this.scripts.run(state, new Command(Kind.RELEASE, owner));
		boolean goesOn = state.late().stream().anyMatch((command) -> command.mayTakeTheLockFor(owner));
		steps.happens(owner, "is cleaned up after",
				goesOn ? swept : swept.errands(Lists.without(swept.errands(), owner)));
	}

	/**
	 * {@link #cleanUp} in several commands.
	 */
	private void cleaningUp(Steps<State> steps, State state, Progress at) {
		this.plain.add(steps, state, at, new Ending() {

			@Override
			public State answered(State state, Progress progress) {
				return state;
			}

			@Override
			public State failed(State state, boolean refused) {
				return state.errands(Lists.with(state.errands(), at.owner()));
			}

		});
	}

	private void expiry(Steps<State> steps, State state) {
		State expired = state.with(state.server().value(null));
		if (state.server().value() instanceof Value.Owned owned) {
			Owner owner = owned.owner();
			if (owned.doomed() || isAbandoned(state, owner)) {
				steps.happensInTime("server", "ends a lease", expired);
			}
			else if (!mayHold(state, owner)) {
				steps.goesWrong(Fault.LOST_LEASE, "server", "ends the lease of a grant that was not heard", expired);
			}
		}
		if (state.server().value() instanceof Value.Reserved reserved && !this.setup.has(Mutant.RESERVATION_FOR_EVER)) {
			boolean wakes = state.running().stream().anyMatch((step) -> step.isAboutToWake(reserved.jvm()));
			if (wakes || state.messages().get(reserved.jvm()) > 0 || state.jvm(reserved.jvm()).isBusy()) {
				steps.goesWrong(Fault.LOST_LEASE, "server", "ends a reservation early", expired);
			}
			else {
				steps.happensInTime("server", "ends a reservation", expired);
			}
		}
	}

	/**
	 * Whether it is about to believe that it holds the lock, or does.
	 */
	private static boolean mayHold(State state, Owner owner) {
		Phase phase = state.request(owner).phase();
		Progress running = state.running(owner);
		return state.isOwner(owner) || phase == Phase.GRANTED
				|| (phase == Phase.ASKED && running != null && running.done());
	}

	/**
	 * Whether nobody will extend the owner's lease or give the key back.
	 */
	private static boolean isAbandoned(State state, Owner owner) {
		boolean underWay = state.isUnderWay(owner)
				&& (state.request(owner).phase() != Phase.LOST || state.isOwner(owner));
		return !underWay && !state.errands().contains(owner) && state.running(owner) == null;
	}

	private static String name(int jvm) {
		return "J" + jvm;
	}

}
