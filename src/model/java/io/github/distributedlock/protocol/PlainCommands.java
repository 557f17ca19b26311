package io.github.distributedlock.protocol;

import java.util.List;
import java.util.Objects;

import io.github.distributedlock.protocol.Server.Waiter;
import io.github.distributedlock.protocol.StepProgress.Line;
import org.jspecify.annotations.Nullable;

/**
 * The server's part of a step that has no script: the effect of each command, and the
 * command that follows. {@code CompareAndSet} is one command: also a transaction that is
 * watched replaces the value at one moment, and only if the value is unchanged.
 */
record PlainCommands(Setup setup) {

	/**
	 * The result of a command.
	 *
	 * @param state the state afterwards
	 * @param progress how far the step is then
	 */
	record Outcome(State state, StepProgress progress) {
	}

	/**
	 * The change of the sender's state when the step ends.
	 */
	interface Ending {

		State answered(State state, StepProgress progress);

		/**
		 * A command was not answered, or refused.
		 */
		State failed(State state, boolean refused);

	}

	/**
	 * Adds what can become of the next command of a step.
	 */
	void add(Transitions<State> transitions, State state, StepProgress at, Ending ending) {
		State others = state.without(at);
		Outcome outcome = run(others, at);
		StepProgress progress = outcome.progress();
		String what = at.step().kind() + " " + at.next() + (at.compared() ? ", having compared" : "");
		transitions.happens(at.owner(), what, after(outcome.state(), progress, ending));
		transitions.goesWrong(Fault.LOST_ANSWER, at.owner(), what + ", unheard",
				failed(outcome.state(), at, ending, false));
		transitions.goesWrong(Fault.LATE_COMMAND, at.owner(), what + " does not come through",
				failed(at.next().onlyReads() ? others : others.with(at.givenUp()), at, ending, false));
		if (at.next() == Line.PUBLISH && this.setup.skipsTheDeaf() && outcome.progress().hasEnded()) {
			transitions.goesWrong(Fault.LOST_MESSAGE, at.owner(), what + " reaches nobody, who listens again",
					after(others, unwanted(at), ending));
		}
		transitions.goesWrong(Fault.REFUSED_COMMAND, at.owner(), what + " is refused",
				failed(others, at, ending, !at.done() || this.setup.has(Mutant.REFUSED_MIDWAY_COUNTS_AS_NOT_BEGUN)));
	}

	private static State after(State state, StepProgress progress, Ending ending) {
		return progress.hasEnded() ? ending.answered(state, progress) : state.with(progress);
	}

	private static State failed(State state, StepProgress at, Ending ending, boolean refused) {
		return at.cannotFail() ? ending.answered(state, at.to(Line.END)) : ending.failed(state, refused);
	}

	Outcome run(State state, StepProgress at) {
		Server server = state.server();
		if (at.comparesAndSets() && !at.compared() && isAsExpected(state, at) && !isAtomic(at)) {
			return new Outcome(state, at.afterComparing());
		}
		return switch (at.next()) {
			case SET_IF_ABSENT -> (server.value() == null) ? granted(state, at)
					: new Outcome(state, at.to((at.registers() || this.setup.fenced()) ? Line.WHOSE : Line.END));
			case WHOSE -> whose(state, at);
			case RENEW -> changes(state, at) ? renewed(state, at) : new Outcome(state, busy(at));
			case TAKE -> changes(state, at) ? granted(state, at) : new Outcome(state, busy(at));
			case SEE_LAST_PLACE -> new Outcome(state, at.place(state.server().lastPlace()));
			case REGISTER -> register(state, at);
			case SEE_TOKEN -> new Outcome(state, at.seen(server.lastToken(), server.clock()));
			case NEXT_TOKEN -> nextToken(state, at);
			case UNREGISTER -> unregister(state, at);
			case LOOK -> look(state, at);
			case REMOVE -> remove(state, at);
			case RESERVE -> reserve(state, at);
			case WHY -> why(state, at);
			case FORGET -> forget(state, at);
			case PUBLISH -> publish(state, at);
			case SEE_WHO_HEARS -> new Outcome(state, at.to(mayHear(state, at.waiter()) ? Line.RESERVE : Line.SKIP));
			case SKIP -> new Outcome(forget(state, at.waiter()), at.current(at.current()));
			case END -> throw new IllegalStateException("The step has ended");
		};
	}

	private boolean isAtomic(StepProgress at) {
		return !this.setup.bestEffort() && !(this.setup.has(Mutant.GET_THEN_DELETE) && at.next() == Line.REMOVE);
	}

	private static boolean isAsExpected(State state, StepProgress at) {
		return switch (at.next()) {
			case RENEW -> state.server().isOwnedBy(at.owner());
			case TAKE -> state.server().isReservedFor(at.owner().jvm());
			default -> holds(state, at.current());
		};
	}

	/**
	 * Returns whether {@code CompareAndSet} changes the lock. After the comparison, any
	 * value of the key is changed: {@code SET XX}, {@code PEXPIRE}, {@code DEL}.
	 */
	private static boolean changes(State state, StepProgress at) {
		return at.compared() ? state.server().value() != null : isAsExpected(state, at);
	}

	/**
	 * {@code PEXPIRE}, which leaves the value unchanged.
	 */
	private Outcome renewed(State state, StepProgress at) {
		Outcome granted = granted(state, at);
		return state.server().isOwnedBy(at.owner()) ? granted : new Outcome(state, granted.progress());
	}

	private boolean mayHear(State state, int waiter) {
		return state.jvm(waiter).alive() || !this.setup.skipsTheDeaf();
	}

	private Outcome whose(State state, StepProgress at) {
		if (at.step().kind() == Command.Kind.WITHDRAW) {
			Value value = state.server().value();
			boolean passesOn = value == null || state.server().isReservedFor(at.owner().jvm());
			return new Outcome(state, passesOn ? at.current(value) : at.to(Line.END));
		}
		if (state.server().isOwnedBy(at.owner()) && !this.setup.has(Mutant.OWN_VALUE_NOT_RECOGNISED)) {
			return new Outcome(state, at.to(Line.RENEW));
		}
		return new Outcome(state, state.server().isReservedFor(at.owner().jvm()) ? at.to(Line.TAKE) : busy(at));
	}

	private StepProgress busy(StepProgress at) {
		return at.to((at.again() || !at.registers()) ? Line.END : Line.SEE_LAST_PLACE);
	}

	private Outcome register(State state, StepProgress at) {
		int jvm = at.owner().jvm();
		State registered = state.with(state.server().registered(jvm, at.last() + 1))
			.with(state.ghost().registered(jvm));
		return new Outcome(registered,
				this.setup.has(Mutant.NO_RETRY_WHEN_REGISTERING) ? at.to(Line.END) : at.secondTry());
	}

	private Outcome granted(State state, StepProgress at) {
		Owner owner = at.owner();
		State granted = state.with(state.server().value(new Value.Owned(owner, false)));
		if (!state.server().isOwnedBy(owner)) {
			granted = granted.with(state.ghost().lockGranted(owner.jvm(), this.setup.threads().size()));
		}
		return new Outcome(granted, (at.registers() ? at.to(Line.UNREGISTER) : acquired(at)).succeeded());
	}

	private Outcome nextToken(State state, StepProgress at) {
		Server server = state.server();
		int token = Math.max(at.last() + 1, at.time());
		if (this.setup.has(Mutant.TOKEN_ADDS_TO_WHAT_WAS_SEEN)) {
			token += server.lastToken() - at.last();
		}
		else if (server.lastToken() != at.last()) {
			return new Outcome(state, at.to(Line.SEE_TOKEN));
		}
		return new Outcome(state.with(server.token(token)).with(state.ghost().tokenGranted(token)),
				(token < at.time()) ? at.to(Line.SEE_TOKEN) : at.token(token).to(Line.END));
	}

	private StepProgress acquired(StepProgress at) {
		return at.to(this.setup.fenced() ? Line.SEE_TOKEN : Line.END);
	}

	private Outcome unregister(State state, StepProgress at) {
		int jvm = at.owner().jvm();
		State forgotten = forget(state, jvm);
		if (at.step().kind() != Command.Kind.WITHDRAW) {
			return new Outcome(forgotten, acquired(at));
		}
		boolean passesOn = !this.setup.has(Mutant.WITHDRAW_WITHOUT_PASSING_ON);
		return new Outcome(forgotten.with(state.ghost().withdrawn(jvm)), at.to(passesOn ? Line.WHOSE : Line.END));
	}

	private Outcome look(State state, StepProgress at) {
		List<Waiter> waiters = state.server().waiters();
		if (!waiters.isEmpty()) {
			int oldest = waiters.get(0).jvm();
			boolean pops = this.setup.has(Mutant.WAITER_POPPED_AT_ONCE);
			boolean publishes = this.setup.has(Mutant.WAKE_UP_BEFORE_RESERVING);
			return new Outcome(pops ? forget(state, oldest) : state, publishes ? at.seen(oldest).to(Line.PUBLISH)
					: this.setup.bestEffort() ? at.seen(oldest).to(Line.SEE_WHO_HEARS) : at.seen(oldest));
		}
		return new Outcome(state, at.to((at.current() != null) ? Line.REMOVE : Line.END));
	}

	private Outcome remove(State state, StepProgress at) {
		if (!changes(state, at)) {
			return new Outcome(state, at.to(Line.WHY));
		}
		return new Outcome(state.with(state.server().value(null)),
				this.setup.has(Mutant.LOOKS_ONLY_ONCE) ? at.to(Line.END) : givenBack(at).current(null));
	}

	private static StepProgress givenBack(StepProgress at) {
		return (at.current() instanceof Value.Owned) ? at.succeeded() : at;
	}

	private Outcome reserve(State state, StepProgress at) {
		if (!changes(state, at)) {
			return new Outcome(state, at.to((at.current() != null) ? Line.WHY : Line.END));
		}
		State reserved = state.with(state.server().value(new Value.Reserved(at.waiter())));
		if (!state.jvm(at.waiter()).alive()) {
			reserved = reserved.with(state.ghost().reservedForADeadOne(at.step(), at.waiter()));
		}
		if (this.setup.has(Mutant.WAKE_UP_BEFORE_RESERVING)) {
			return new Outcome(forget(reserved, at.waiter()), at.to(Line.END));
		}
		return new Outcome(reserved,
				givenBack(at).to(this.setup.has(Mutant.WAITER_NOT_FORGOTTEN) ? Line.PUBLISH : Line.FORGET));
	}

	private static Outcome why(State state, StepProgress at) {
		if (state.server().value() == null) {
			return new Outcome(state, at.current(null));
		}
		return new Outcome(state, at.to(Line.END));
	}

	/**
	 * A waiter that is not registered any more has acquired the lock since, or given up,
	 * and may not listen.
	 */
	private Outcome forget(State state, StepProgress at) {
		boolean waits = state.server().knows(at.waiter()) || this.setup.has(Mutant.WAITER_TAKEN_FOR_GRANTED);
		return new Outcome(forget(state, at.waiter()), waits ? at.to(Line.PUBLISH) : unwanted(at));
	}

	private Outcome publish(State state, StepProgress at) {
		int waiter = at.waiter();
		boolean hears = state.jvm(waiter).alive();
		State published = hears ? state.messages(waiter, state.messages().get(waiter) + 1) : state;
		if (this.setup.has(Mutant.WAKE_UP_BEFORE_RESERVING)) {
			return new Outcome(published, at.to(Line.RESERVE));
		}
		return new Outcome(published, (hears || !this.setup.skipsTheDeaf()) ? at.to(Line.END) : unwanted(at));
	}

	/**
	 * The key is reserved for a waiter that does not come. With best effort the
	 * reservation stays: a waiter that takes the key after all must not meet one that has
	 * looked before.
	 */
	private StepProgress unwanted(StepProgress at) {
		boolean stays = this.setup.bestEffort() && !this.setup.has(Mutant.RESERVATION_CHANGED_BY_WHO_MADE_IT);
		return stays ? at.to(Line.END) : at.current(new Value.Reserved(at.waiter()));
	}

	private static State forget(State state, int jvm) {
		return state.with(state.server().forgotten(jvm));
	}

	/**
	 * Returns whether the key has the value that the sender believes to be there.
	 */
	private static boolean holds(State state, @Nullable Value value) {
		return (value instanceof Value.Owned owned) ? state.server().isOwnedBy(owned.owner())
				: Objects.equals(state.server().value(), value);
	}

}
