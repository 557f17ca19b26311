package io.github.distributedlock.protocol;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * Collects the steps that are possible in one state.
 *
 * @param <S> what the states are
 */
final class Transitions<S> {

	private final List<Transition<S>> transitions = new ArrayList<>();

	private final S from;

	private final Set<Fault> faults;

	private final UnaryOperator<S> afterFault;

	/**
	 * Begins without any.
	 * @param from the state
	 * @param faults what can go wrong there
	 * @param afterFault counts that something has gone wrong
	 */
	Transitions(S from, Set<Fault> faults, UnaryOperator<S> afterFault) {
		this.from = from;
		this.faults = faults;
		this.afterFault = afterFault;
	}

	void happens(Object who, String what, S to) {
		add(Transition.Kind.PROTOCOL, who, what, to);
	}

	void mayHappen(Object who, String what, S to) {
		add(Transition.Kind.REQUEST, who, what, to);
	}

	void happensInTime(Object who, String what, S to) {
		add(Transition.Kind.TIME, who, what, to);
	}

	/**
	 * Adds a fault, if the setup has it.
	 */
	void goesWrong(Fault fault, Object who, String what, S to) {
		if (this.faults.contains(fault)) {
			add(Transition.Kind.FAULT, who, what, this.afterFault.apply(to));
		}
	}

	List<Transition<S>> all() {
		return this.transitions;
	}

	private void add(Transition.Kind kind, Object who, String what, S to) {
		if (!to.equals(this.from)) {
			this.transitions.add(new Transition<>(kind, who, what, to));
		}
	}

}
