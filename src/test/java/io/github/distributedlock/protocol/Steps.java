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
final class Steps<S> {

	private final List<Step<S>> steps = new ArrayList<>();

	private final S from;

	private final Set<Fault> faults;

	private final UnaryOperator<S> afterFault;

	/**
	 * Begins without any.
	 * @param from the state
	 * @param faults what can go wrong there
	 * @param afterFault counts that something has gone wrong
	 */
	Steps(S from, Set<Fault> faults, UnaryOperator<S> afterFault) {
		this.from = from;
		this.faults = faults;
		this.afterFault = afterFault;
	}

	void happens(Object who, String what, S to) {
		add(Step.Kind.PROTOCOL, who, what, to);
	}

	void mayHappen(Object who, String what, S to) {
		add(Step.Kind.REQUEST, who, what, to);
	}

	void happensInTime(Object who, String what, S to) {
		add(Step.Kind.TIME, who, what, to);
	}

	/**
	 * Adds a fault, if it may happen.
	 */
	void goesWrong(Fault fault, Object who, String what, S to) {
		if (this.faults.contains(fault)) {
			add(Step.Kind.FAULT, who, what, this.afterFault.apply(to));
		}
	}

	List<Step<S>> all() {
		return this.steps;
	}

	private void add(Step.Kind kind, Object who, String what, S to) {
		if (!to.equals(this.from)) {
			this.steps.add(new Step<>(kind, who, what, to));
		}
	}

}
