package io.github.distributedlock.protocol;

import java.util.Objects;

import io.github.distributedlock.protocol.Command.Kind;
import io.github.distributedlock.protocol.PlainCommands.Ending;
import io.github.distributedlock.protocol.Request.Phase;

/**
 * The steps of a thread for its request: {@code KeyAcquisition}, {@code Hold} and {@code
 * Releaser}.
 */
record RequestTransitions(Setup setup, Scripts scripts, PlainCommands plain) {

	void add(Transitions<State> transitions, State state, Owner owner) {
		switch (state.request(owner).phase()) {
			case IDLE -> begin(transitions, state, owner);
			case QUEUED -> giveUp(transitions, state, owner);
			case ASKING -> ask(transitions, state, owner);
			case ASKED -> asked(transitions, state, Objects.requireNonNull(state.running(owner)));
			case GRANTED -> granted(transitions, state, owner);
			case GRANTED_TOO_LATE -> transitions.happens(owner, "reads that it was granted the lock too late",
					this.setup.has(Mutant.LATE_ANSWER_COUNTS) ? hold(state, owner)
							: state.with(owner, state.request(owner).failed()));
			case REFUSED -> transitions.happens(owner, "reads that the lock is busy",
					state.with(owner, state.request(owner).in(Phase.PARKED)));
			case FAILED, PARKED -> pause(transitions, state, owner);
			case HOLDING -> holding(transitions, state, owner);
			case LOST -> transitions.happens(owner, "ends its method, having lost the lock", ended(state, owner));
			case RELEASING -> releasing(transitions, state, owner);
			case ENDED -> {
			}
		}
	}

	/**
	 * {@code LocalQueue.enter}. Of threads that are alike, the first begins first: other
	 * orders differ in names only.
	 */
	private void begin(Transitions<State> transitions, State state, Owner owner) {
		Jvm jvm = jvm(state, owner);
		boolean anotherIsFirst = owner.thread() > 0 && owner.request() == 0
				&& jvm.threads().get(owner.thread() - 1).equals(Request.FIRST);
		if (!anotherIsFirst) {
			transitions.mayHappen(owner, "wants the lock", state.with(owner.jvm(), jvm.enter(owner.thread())));
		}
	}

	/**
	 * {@code KeyAcquisition.attempt}.
	 */
	private void ask(Transitions<State> transitions, State state, Owner owner) {
		boolean newSlice = this.setup.has(Mutant.UNHEARD_PASS_BEGINS_A_SLICE);
		Request request = newSlice ? state.request(owner).handedOn(0) : state.request(owner);
		Jvm jvm = jvm(state, owner);
		OwnedKey left = jvm.ownedKey();
		if (left != null) {
			inherit(transitions, state, owner, left);
			giveUp(transitions, state, owner);
			return;
		}
		boolean registers = request.refused() || request.unsettled() || queue(jvm).registered();
		Command command = new Command(registers ? Kind.ACQUIRE_OR_REGISTER : Kind.ACQUIRE, owner);
		State sent = registers ? state.with(owner.jvm(), jvm.queue(Queue::registering)) : state;
		if (this.setup.plain()) {
			asked(transitions, sent.with(owner, request.in(Phase.ASKED)), StepProgress.of(command));
			giveUp(transitions, state, owner);
			return;
		}
		State done = this.scripts.run(sent, command);
		boolean own = sent.server().isOwnedBy(owner);
		boolean granted = done.server().isOwnedBy(owner) && !(own && this.setup.has(Mutant.OWN_VALUE_NOT_RECOGNISED));
		Request answered = granted ? request.granted(done.server().lastToken())
				: request.refused(registers ? Phase.REFUSED : Phase.ASKING);
		String what = registers ? "asks or registers" : "asks";
		transitions.happens(owner, what + (granted ? ": granted" : ": busy"), done.with(owner, answered));
		transitions.goesWrong(Fault.LOST_ANSWER, owner, what + (granted ? ": granted unheard" : ": busy, unheard"),
				done.with(owner, request.failed()));
		transitions.goesWrong(Fault.LATE_COMMAND, owner, what + ", and the command does not come through",
				sent.late(Lists.with(sent.late(), command)).with(owner, request.failed()));
		transitions.goesWrong(Fault.REFUSED_COMMAND, owner, what + ", and the command is refused",
				sent.with(owner, request.in(Phase.FAILED)));
		giveUp(transitions, state, owner);
	}

	/**
	 * {@code HandOver.take} and {@code HandOver.pass}.
	 */
	private void inherit(Transitions<State> transitions, State state, Owner owner, OwnedKey left) {
		Jvm jvm = jvm(state, owner);
		if (!left.isSliceOver()) {
			Jvm taken = jvm.in(owner.thread(), Phase.HOLDING).queue(Queue::settled).ownedKey(left.taken());
			transitions.happens(owner, "takes the key that was left to it",
					state.with(owner.jvm(), taken).with(state.ghost().handedOn()));
		}
		boolean yields = left.isSliceOver();
		Command command = new Command(yields ? Kind.PASS_OR_YIELD : Kind.PASS, owner, left.owner());
		Request request = state.request(owner).handedOn(yields ? 0 : left.handedOn() + 1);
		State sent = state.with(owner.jvm(), jvm.queue(Queue::registering).ownedKey(null)).with(owner, request);
		State unheard = this.setup.has(Mutant.NOT_RELEASED_AFTER_PASSING_ON_UNHEARD) ? sent
				: sent.cleanUps(Lists.with(sent.cleanUps(), left.owner()));
		State heard = left.unsettled() ? sent.cleanUps(Lists.with(sent.cleanUps(), left.owner())) : sent;
		State done = this.scripts.run(heard, command);
		boolean granted = done.server().isOwnedBy(owner);
		String what = yields ? "has the key passed on, or yields" : "has the key passed on";
		transitions.happens(owner, what + (granted ? ": granted" : ": busy"), done.with(owner,
				granted ? request.granted(done.server().lastToken()) : request.refused(Phase.REFUSED)));
		transitions.goesWrong(Fault.LOST_ANSWER, owner, what + (granted ? ": granted unheard" : ": busy, unheard"),
				this.scripts.run(unheard, command).with(owner, request.failed()));
		transitions.goesWrong(Fault.LATE_COMMAND, owner, what + ", and the command does not come through",
				unheard.late(Lists.with(unheard.late(), command)).with(owner, request.failed()));
		transitions.goesWrong(Fault.REFUSED_COMMAND, owner, what + ", and the command is refused",
				unheard.with(owner, request.in(Phase.FAILED)));
	}

	/**
	 * {@link #ask} in several commands.
	 */
	private void asked(Transitions<State> transitions, State state, StepProgress at) {
		Owner owner = at.owner();
		Request request = state.request(owner);
		this.plain.add(transitions, state, at, new Ending() {

			@Override
			public State answered(State state, StepProgress progress) {
				if (!progress.done()) {
					return state.with(owner, request.refused(progress.registers() ? Phase.REFUSED : Phase.ASKING));
				}
				Request granted = request.granted(progress.last());
				return state.with(owner, progress.tooLate() ? granted.in(Phase.GRANTED_TOO_LATE) : granted);
			}

			@Override
			public State failed(State state, boolean refused) {
				return state.with(owner, refused ? request.in(Phase.FAILED) : request.failed());
			}

		});
		if (at.done() && !at.tooLate()) {
			transitions.goesWrong(Fault.LOST_LEASE, owner, "is slow: its deadline passes before the last command",
					state.without(at).with(at.late()).with(state.server().doomed(owner)));
		}
	}

	private void granted(Transitions<State> transitions, State state, Owner owner) {
		transitions.happens(owner, "reads that it has the lock", hold(state, owner));
		transitions.goesWrong(Fault.LOST_LEASE, owner, "is slow: its deadline passes before it reads the answer",
				state.with(state.server().doomed(owner)).with(owner, state.request(owner).in(Phase.GRANTED_TOO_LATE)));
	}

	private State hold(State state, Owner owner) {
		OwnedKey ownedKey = new OwnedKey(owner, false, state.request(owner).handedOn(), false);
		State holding = state.with(owner.jvm(),
				jvm(state, owner).in(owner.thread(), Phase.HOLDING).queue(Queue::settled).ownedKey(ownedKey));
		return this.setup.fenced() ? holding.with(state.ghost().tokenUsed(state.request(owner).token())) : holding;
	}

	/**
	 * {@code KeyAcquisition.pause}.
	 */
	private void pause(Transitions<State> transitions, State state, Owner owner) {
		Jvm jvm = jvm(state, owner);
		State asking = state.with(owner.jvm(),
				jvm.in(owner.thread(), Phase.ASKING).queue((queue) -> queue.woken(false)));
		if (queue(jvm).woken()) {
			transitions.happens(owner, "consumes a wake-up", asking);
		}
		else if (state.request(owner).phase() == Phase.FAILED) {
			transitions.happens(owner, "tries again", asking);
		}
		else if (!this.setup.has(Mutant.NO_POLL)) {
			transitions.happensInTime(owner, "polls", asking);
		}
		giveUp(transitions, state, owner);
	}

	private void giveUp(Transitions<State> transitions, State state, Owner owner) {
		boolean queued = state.request(owner).phase() == Phase.QUEUED;
		State left = queued ? state.with(owner.jvm(), jvm(state, owner).leaveEarly(owner.thread()))
				: left(abandoned(state, owner), owner);
		transitions.goesWrong(Fault.TIME_OUT, owner, "gives up", ended(left, owner));
	}

	/**
	 * {@code LocalKey.Entry.abandon} and {@code HandOver.abandon}: the key is left to the
	 * next turn, or given back.
	 */
	private State abandoned(State state, Owner owner) {
		Jvm jvm = jvm(state, owner);
		OwnedKey left = jvm.ownedKey();
		if (left == null || !queue(jvm).waiting().isEmpty()) {
			return state;
		}
		State forgotten = state.with(owner.jvm(), jvm.ownedKey(null));
		return this.setup.has(Mutant.LEFT_KEY_FORGOTTEN) ? forgotten
				: forgotten.cleanUps(Lists.with(forgotten.cleanUps(), left.owner()));
	}

	/**
	 * {@code Releaser.release} and {@code Leases.declare}.
	 */
	private void holding(Transitions<State> transitions, State state, Owner owner) {
		OwnedKey ownedKey = Objects.requireNonNull(jvm(state, owner).ownedKey());
		release(transitions, state, owner, ownedKey);
		if (this.setup.handsOn() && !queue(jvm(state, owner)).waiting().isEmpty()) {
			leave(transitions, state, owner, ownedKey);
		}
		if (this.setup.has(Mutant.DEADLINE_AFTER_SERVER)) {
			transitions.goesWrong(Fault.LOST_LEASE, owner, "loses its lease on the server first",
					state.with(state.server().value(null)));
		}
		else {
			State lost = ended(state, owner, ownedKey).with(state.server().doomed(ownedKey.owner()))
				.with(owner, state.request(owner).in(Phase.LOST));
			transitions.goesWrong(Fault.LOST_LEASE, owner, "sees its deadline pass", left(lost, owner));
		}
	}

	/**
	 * {@code LocalKey.handOver}: the next turn inherits what is left of the key's past,
	 * too.
	 */
	private void leave(Transitions<State> transitions, State state, Owner owner, OwnedKey ownedKey) {
		Request request = state.request(owner);
		boolean cleansUp = this.setup.has(Mutant.CLEAN_UP_WHILE_HANDED_ON);
		State left = state
			.with(owner.jvm(), jvm(state, owner).ownedKey(ownedKey.left(request.unsettled() && !cleansUp)))
			.with(owner, cleansUp ? request : request.settled());
		transitions.happens(owner, "leaves the key to the next one", ended(left(left, owner), owner));
	}

	private void release(Transitions<State> transitions, State state, Owner owner, OwnedKey ownedKey) {
		Command command = new Command(Kind.RELEASE, ownedKey.owner());
		State sent = ended(state, owner, ownedKey);
		if (this.setup.plain()) {
			released(transitions, sent.with(owner, state.request(owner).in(Phase.RELEASING)), StepProgress.of(command));
			return;
		}
		State released = this.scripts.run(sent, command);
		transitions.happens(owner, "releases", released.with(owner, state.request(owner).in(Phase.RELEASING)));
		transitions.goesWrong(Fault.LOST_ANSWER, owner, "releases, and hears no answer",
				releasedUnheard(released, owner, ownedKey.owner()));
		transitions.goesWrong(Fault.LATE_COMMAND, owner, "releases, and the command does not come through",
				releasedUnheard(sent.late(Lists.with(sent.late(), command)), owner, ownedKey.owner()));
		transitions.goesWrong(Fault.REFUSED_COMMAND, owner, "releases, and the command is refused",
				releasedUnheard(sent, owner, ownedKey.owner()));
	}

	/**
	 * The key is not ours any more. What earlier holders left is cleaned up.
	 */
	private static State ended(State state, Owner owner, OwnedKey ownedKey) {
		State ended = state.with(owner.jvm(), jvm(state, owner).ownedKey(null));
		return ownedKey.unsettled() ? ended.cleanUps(Lists.with(ended.cleanUps(), ownedKey.owner())) : ended;
	}

	private void releasing(Transitions<State> transitions, State state, Owner owner) {
		StepProgress at = state.running(owner);
		if (at != null) {
			released(transitions, state, at);
		}
		else {
			transitions.happens(owner, "reads the answer to its release", ended(left(state, owner), owner));
		}
	}

	/**
	 * {@link #release} in several commands.
	 */
	private void released(Transitions<State> transitions, State state, StepProgress at) {
		this.plain.add(transitions, state, at, new Ending() {

			@Override
			public State answered(State state, StepProgress progress) {
				return state;
			}

			@Override
			public State failed(State state, boolean refused) {
				return releasedUnheard(state, at.owner(), at.owner());
			}

		});
	}

	private State releasedUnheard(State state, Owner owner, Owner token) {
		State repeated = this.setup.has(Mutant.NO_SECOND_RELEASE) ? state
				: state.cleanUps(Lists.with(state.cleanUps(), token));
		return ended(left(repeated, owner), owner);
	}

	private State left(State state, Owner owner) {
		return state.with(owner.jvm(), jvm(state, owner).leave(!this.setup.has(Mutant.NO_WITHDRAWAL)));
	}

	private State ended(State state, Owner owner) {
		Request request = state.request(owner);
		State ended = state.with(owner, request.next(this.setup.requests()));
		boolean cleansUp = request.unsettled() && !this.setup.has(Mutant.NO_CLEAN_UP);
		return cleansUp ? ended.cleanUps(Lists.with(ended.cleanUps(), owner)) : ended;
	}

	private static Jvm jvm(State state, Owner owner) {
		return state.jvm(owner.jvm());
	}

	private static Queue queue(Jvm jvm) {
		Queue queue = jvm.queue();
		if (queue == null) {
			throw new IllegalStateException("Nobody has the turn");
		}
		return queue;
	}

}
