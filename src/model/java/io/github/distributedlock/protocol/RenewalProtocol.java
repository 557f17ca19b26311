package io.github.distributedlock.protocol;

import java.util.ArrayList;
import java.util.List;

import io.github.distributedlock.protocol.Renewals.Line;
import io.github.distributedlock.protocol.Renewals.Renewal;
import org.jspecify.annotations.Nullable;

/**
 * The possible steps while a lock is held whose watchdog renews the lease, and whose user
 * extends it: {@code PlainSteps}. Each command may take as long as it likes, and any
 * renewal may stay unanswered.
 *
 * @param broken the rule that is broken, if any
 */
record RenewalProtocol(@Nullable Rule broken) {

	/**
	 * The lease that the watchdog asks for.
	 */
	static final int LEASE = 3;

	/**
	 * The lease that the user asks for.
	 */
	private static final int EXTENSION = 5;

	/**
	 * The rules that keep a renewal from making a lease shorter than the holder believes.
	 */
	enum Rule {

		/**
		 * A lease that is long enough already is not touched.
		 */
		LOOKS_FIRST,

		/**
		 * Renewals of one owner are sent one after another.
		 */
		ONE_AFTER_ANOTHER,

		/**
		 * After a renewal that was not answered no longer lease is granted.
		 */
		NO_LONGER_ONE_AFTER_AN_UNANSWERED

	}

	List<Transition<Renewals>> transitions(Renewals state) {
		List<Transition<Renewals>> transitions = new ArrayList<>();
		begin(transitions, state, "watchdog", LEASE);
		begin(transitions, state, "user", EXTENSION);
		state.underWay().forEach((renewal) -> goOn(transitions, state, renewal));
		state.unanswered()
			.forEach((lease) -> transitions
				.add(new Transition<>(Transition.Kind.FAULT, lease, "is set late", compareAndSet(state, lease))));
		transitions.add(new Transition<>(Transition.Kind.TIME, "time", "passes", state.tick()));
		return transitions;
	}

	private void begin(List<Transition<Renewals>> transitions, Renewals state, String who, int lease) {
		boolean waits = holds(Rule.ONE_AFTER_ANOTHER) ? !state.underWay().isEmpty()
				: state.underWay().stream().anyMatch((renewal) -> renewal.lease() == lease);
		boolean refused = holds(Rule.NO_LONGER_ONE_AFTER_AN_UNANSWERED)
				&& state.unanswered().stream().anyMatch((unanswered) -> lease > unanswered);
		if (state.believed() > 0 && !waits && !refused) {
			Line first = holds(Rule.LOOKS_FIRST) ? Line.LOOK : Line.COMPARE_AND_SET;
			transitions.add(new Transition<>(Transition.Kind.REQUEST, who, "asks for " + lease,
					state.with(new Renewal(lease, 0, first))));
		}
	}

	private void goOn(List<Transition<Renewals>> transitions, Renewals state, Renewal renewal) {
		int lease = renewal.lease();
		Renewals others = state.without(renewal);
		Line answer = (state.left() > 0) ? Line.RENEWED : Line.LOST;
		Renewals next = switch (renewal.next()) {
			case LOOK -> others.with(renewal.to((state.left() >= lease) ? Line.WHOSE : Line.COMPARE_AND_SET));
			case WHOSE -> others.with(renewal.to(answer));
			case COMPARE_AND_SET -> compareAndSet(others, lease).with(renewal.to(answer));
			case RENEWED -> others.believing(lease - renewal.age());
			case LOST -> others.believing(0);
		};
		transitions.add(new Transition<>(Transition.Kind.PROTOCOL, lease, renewal.next().name(), next));
		transitions.add(new Transition<>(Transition.Kind.FAULT, lease, renewal.next() + " is not answered",
				(renewal.next() == Line.COMPARE_AND_SET) ? others.unanswered(lease) : others));
	}

	private static Renewals compareAndSet(Renewals state, int lease) {
		return (state.left() > 0) ? state.left(lease) : state;
	}

	private boolean holds(Rule rule) {
		return this.broken != rule;
	}

}
