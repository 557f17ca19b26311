package io.github.distributedlock.protocol;

import java.util.Objects;

import io.github.distributedlock.protocol.Command.Kind;
import io.github.distributedlock.protocol.PlainSteps.Ending;
import io.github.distributedlock.protocol.Request.Phase;

/**
 * What a thread does about its request: {@code Acquirer}, {@code Negotiation},
 * {@code Hold} and {@code Releaser}.
 */
final class RequestSteps {

	private final Setup setup;

	private final Scripts scripts;

	private final PlainSteps plain;

	RequestSteps(Setup setup, Scripts scripts, PlainSteps plain) {
		this.setup = setup;
		this.scripts = scripts;
		this.plain = plain;
	}

	void add(Steps<State> steps, State state, Owner owner) {
		switch (state.request(owner).phase()) {
			case IDLE -> begin(steps, state, owner);
			case QUEUED -> giveUp(steps, state, owner);
			case ASKING -> ask(steps, state, owner);
			case ASKED -> asked(steps, state, Objects.requireNonNull(state.running(owner)));
			case GRANTED -> granted(steps, state, owner);
			case GRANTED_TOO_LATE -> steps.happens(owner, "reads that it was granted the lock too late",
					this.setup.has(Mutant.LATE_ANSWER_COUNTS) ? hold(state, owner)
							: state.with(owner, state.request(owner).failed()));
			case REFUSED -> steps.happens(owner, "reads that the lock is busy",
					state.with(owner, state.request(owner).in(Phase.PARKED)));
			case FAILED, PARKED -> pause(steps, state, owner);
			case HOLDING -> holding(steps, state, owner);
			case LOST -> steps.happens(owner, "ends its method, having lost the lock", ended(state, owner));
			case RELEASING -> releasing(steps, state, owner);
			case ENDED -> {
			}
		}
	}

	/**
	 * {@code LocalQueue.enter}. Of threads that are alike, the first begins first: other
	 * orders differ in names only.
	 */
	private void begin(Steps<State> steps, State state, Owner owner) {
		Jvm jvm = jvm(state, owner);
		boolean anotherIsFirst = owner.thread() > 0 && owner.request() == 0
				&& jvm.threads().get(owner.thread() - 1).equals(Request.FIRST);
		if (!anotherIsFirst) {
			steps.mayHappen(owner, "wants the lock", state.with(owner.jvm(), jvm.enter(owner.thread())));
		}
	}

	/**
	 * {@code Negotiation.ask}.
	 */
	private void ask(Steps<State> steps, State state, Owner owner) {
		boolean newSlice = this.setup.has(Mutant.UNHEARD_PASS_BEGINS_A_SLICE);
		Request request = newSlice ? state.request(owner).handedOn(0) : state.request(owner);
		Jvm jvm = jvm(state, owner);
		Tenure left = jvm.tenure();
		if (left != null) {
			inherit(steps, state, owner, left);
			giveUp(steps, state, owner);
			return;
		}
		boolean registers = request.refused() || request.unsettled() || queue(jvm).registered();
		Command command = new Command(registers ? Kind.ACQUIRE_OR_REGISTER : Kind.ACQUIRE, owner);
		State sent = registers ? state.with(owner.jvm(), jvm.queue(Queue::registering)) : state;
		if (this.setup.plain()) {
			asked(steps, sent.with(owner, request.in(Phase.ASKED)), Progress.of(command));
			giveUp(steps, state, owner);
			return;
		}
		State done = this.scripts.run(sent, command);
		boolean own = sent.server().isOwnedBy(owner);
		boolean granted = done.server().isOwnedBy(owner) && !(own && this.setup.has(Mutant.OWN_VALUE_NOT_RECOGNISED));
		Request answered = granted ? request.granted(done.server().lastToken())
				: request.refused(registers ? Phase.REFUSED : Phase.ASKING);
		String what = registers ? "asks or registers" : "asks";
		steps.happens(owner, what + (granted ? ": granted" : ": busy"), done.with(owner, answered));
		steps.goesWrong(Fault.LOST_ANSWER, owner, what + (granted ? ": granted unheard" : ": busy, unheard"),
				done.with(owner, request.failed()));
		steps.goesWrong(Fault.LATE_COMMAND, owner, what + ", and the command does not come through",
				sent.late(Lists.with(sent.late(), command)).with(owner, request.failed()));
		steps.goesWrong(Fault.REFUSED_COMMAND, owner, what + ", and the command is refused",
				sent.with(owner, request.in(Phase.FAILED)));
		giveUp(steps, state, owner);
	}

	/**
	 * {@code HandOver.take} and {@code HandOver.pass}.
	 */
	private void inherit(Steps<State> steps, State state, Owner owner, Tenure left) {
		Jvm jvm = jvm(state, owner);
		if (!left.isSliceOver()) {
			Jvm taken = jvm.in(owner.thread(), Phase.HOLDING).queue(Queue::settled).tenure(left.taken());
			steps.happens(owner, "takes the key that was left to it",
					state.with(owner.jvm(), taken).with(state.witness().handedOn()));
		}
		boolean yields = left.isSliceOver();
		Command command = new Command(yields ? Kind.PASS_OR_YIELD : Kind.PASS, owner, left.owner());
		Request request = state.request(owner).handedOn(yields ? 0 : left.handedOn() + 1);
		State sent = state.with(owner.jvm(), jvm.queue(Queue::registering).tenure(null)).with(owner, request);
		State unheard = this.setup.has(Mutant.NOT_RELEASED_AFTER_PASSING_ON_UNHEARD) ? sent
				: sent.errands(Lists.with(sent.errands(), left.owner()));
		State heard = left.unsettled() ? sent.errands(Lists.with(sent.errands(), left.owner())) : sent;
		State done = this.scripts.run(heard, command);
		boolean granted = done.server().isOwnedBy(owner);
		String what = yields ? "has the key passed on, or yields" : "has the key passed on";
		steps.happens(owner, what + (granted ? ": granted" : ": busy"), done.with(owner,
				granted ? request.granted(done.server().lastToken()) : request.refused(Phase.REFUSED)));
		steps.goesWrong(Fault.LOST_ANSWER, owner, what + (granted ? ": granted unheard" : ": busy, unheard"),
				this.scripts.run(unheard, command).with(owner, request.failed()));
		steps.goesWrong(Fault.LATE_COMMAND, owner, what + ", and the command does not come through",
				unheard.late(Lists.with(unheard.late(), command)).with(owner, request.failed()));
		steps.goesWrong(Fault.REFUSED_COMMAND, owner, what + ", and the command is refused",
				unheard.with(owner, request.in(Phase.FAILED)));
	}

	/**
	 * {@link #ask} in several commands.
	 */
	private void asked(Steps<State> steps, State state, Progress at) {
		Owner owner = at.owner();
		Request request = state.request(owner);
		this.plain.add(steps, state, at, new Ending() {

			@Override
			public State answered(State state, Progress progress) {
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
			steps.goesWrong(Fault.LOST_LEASE, owner, "is slow: its deadline passes before the last command",
					state.without(at).with(at.late()).with(state.server().doomed(owner)));
		}
	}

	private void granted(Steps<State> steps, State state, Owner owner) {
		steps.happens(owner, "reads that it has the lock", hold(state, owner));
		steps.goesWrong(Fault.LOST_LEASE, owner, "is slow: its deadline passes before it reads the answer",
				state.with(state.server().doomed(owner)).with(owner, state.request(owner).in(Phase.GRANTED_TOO_LATE)));
	}

	private State hold(State state, Owner owner) {
		Tenure tenure = new Tenure(owner, false, state.request(owner).handedOn(), false);
		State holding = state.with(owner.jvm(),
				jvm(state, owner).in(owner.thread(), Phase.HOLDING).queue(Queue::settled).tenure(tenure));
		return this.setup.fenced() ? holding.with(state.witness().tokenUsed(state.request(owner).token())) : holding;
	}

	/**
	 * {@code Negotiation.mayAskAgain}.
	 */
	private void pause(Steps<State> steps, State state, Owner owner) {
		Jvm jvm = jvm(state, owner);
		State asking = state.with(owner.jvm(),
				jvm.in(owner.thread(), Phase.ASKING).queue((queue) -> queue.woken(false)));
		if (queue(jvm).woken()) {
			steps.happens(owner, "consumes a wake-up", asking);
		}
		else if (state.request(owner).phase() == Phase.FAILED) {
			steps.happens(owner, "tries again", asking);
		}
		else if (!this.setup.has(Mutant.NO_POLL)) {
			steps.happensInTime(owner, "polls", asking);
		}
		giveUp(steps, state, owner);
	}

	private void giveUp(Steps<State> steps, State state, Owner owner) {
		boolean queued = state.request(owner).phase() == Phase.QUEUED;
		State left = queued ? state.with(owner.jvm(), jvm(state, owner).leaveEarly(owner.thread()))
				: left(abandoned(state, owner), owner);
		steps.goesWrong(Fault.TIME_OUT, owner, "gives up", ended(left, owner));
	}

	/**
	 * {@code LocalQueue.abandon} and {@code HandOver.abandon}: the key is left to the
	 * next turn, or given back.
	 */
	private State abandoned(State state, Owner owner) {
		Jvm jvm = jvm(state, owner);
		Tenure left = jvm.tenure();
		if (left == null || !queue(jvm).waiting().isEmpty()) {
			return state;
		}
		State forgotten = state.with(owner.jvm(), jvm.tenure(null));
		return this.setup.has(Mutant.LEFT_KEY_FORGOTTEN) ? forgotten
				: forgotten.errands(Lists.with(forgotten.errands(), left.owner()));
	}

	/**
	 * {@code Releaser.release} and {@code Losses.declare}.
	 */
	private void holding(Steps<State> steps, State state, Owner owner) {
		Tenure tenure = Objects.requireNonNull(jvm(state, owner).tenure());
		release(steps, state, owner, tenure);
		if (this.setup.handsOn() && !queue(jvm(state, owner)).waiting().isEmpty()) {
			leave(steps, state, owner, tenure);
		}
		if (this.setup.has(Mutant.DEADLINE_AFTER_SERVER)) {
			steps.goesWrong(Fault.LOST_LEASE, owner, "loses its lease on the server first",
					state.with(state.server().value(null)));
		}
		else {
			State lost = ended(state, owner, tenure).with(state.server().doomed(tenure.owner()))
				.with(owner, state.request(owner).in(Phase.LOST));
			steps.goesWrong(Fault.LOST_LEASE, owner, "sees its deadline pass", left(lost, owner));
		}
	}

	/**
	 * {@code LocalQueue.handOn}: the next turn inherits what is left of the key's past,
	 * too.
	 */
	private void leave(Steps<State> steps, State state, Owner owner, Tenure tenure) {
		Request request = state.request(owner);
		boolean cleansUp = this.setup.has(Mutant.CLEAN_UP_WHILE_HANDED_ON);
		State left = state.with(owner.jvm(), jvm(state, owner).tenure(tenure.left(request.unsettled() && !cleansUp)))
			.with(owner, cleansUp ? request : request.settled());
		steps.happens(owner, "leaves the key to the next one", ended(left(left, owner), owner));
	}

	private void release(Steps<State> steps, State state, Owner owner, Tenure tenure) {
		Command command = new Command(Kind.RELEASE, tenure.owner());
		State sent = ended(state, owner, tenure);
		if (this.setup.plain()) {
			released(steps, sent.with(owner, state.request(owner).in(Phase.RELEASING)), Progress.of(command));
			return;
		}
		State released = this.scripts.run(sent, command);
		steps.happens(owner, "releases", released.with(owner, state.request(owner).in(Phase.RELEASING)));
		steps.goesWrong(Fault.LOST_ANSWER, owner, "releases, and hears no answer",
				releasedUnheard(released, owner, tenure.owner()));
		steps.goesWrong(Fault.LATE_COMMAND, owner, "releases, and the command does not come through",
				releasedUnheard(sent.late(Lists.with(sent.late(), command)), owner, tenure.owner()));
		steps.goesWrong(Fault.REFUSED_COMMAND, owner, "releases, and the command is refused",
				releasedUnheard(sent, owner, tenure.owner()));
	}

	/**
	 * The key is not ours any more. What earlier holders left is cleaned up.
	 */
	private static State ended(State state, Owner owner, Tenure tenure) {
		State ended = state.with(owner.jvm(), jvm(state, owner).tenure(null));
		return tenure.unsettled() ? ended.errands(Lists.with(ended.errands(), tenure.owner())) : ended;
	}

	private void releasing(Steps<State> steps, State state, Owner owner) {
		Progress at = state.running(owner);
		if (at != null) {
			released(steps, state, at);
		}
		else {
			steps.happens(owner, "reads the answer to its release", ended(left(state, owner), owner));
		}
	}

	/**
	 * {@link #release} in several commands.
	 */
	private void released(Steps<State> steps, State state, Progress at) {
		this.plain.add(steps, state, at, new Ending() {

			@Override
			public State answered(State state, Progress progress) {
				return state;
			}

			@Override
			public State failed(State state, boolean refused) {
				return releasedUnheard(state, at.owner(), at.owner());
			}

		});
	}

	private State releasedUnheard(State state, Owner owner, Owner token) {
		State errand = this.setup.has(Mutant.NO_SECOND_RELEASE) ? state
				: state.errands(Lists.with(state.errands(), token));
		return ended(left(errand, owner), owner);
	}

	private State left(State state, Owner owner) {
		return state.with(owner.jvm(), jvm(state, owner).leave(!this.setup.has(Mutant.NO_WITHDRAWAL)));
	}

	private State ended(State state, Owner owner) {
		Request request = state.request(owner);
		State ended = state.with(owner, request.next(this.setup.requests()));
		boolean cleansUp = request.unsettled() && !this.setup.has(Mutant.NO_CLEAN_UP);
		return cleansUp ? ended.errands(Lists.with(ended.errands(), owner)) : ended;
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
