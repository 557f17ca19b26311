package io.github.distributedlock.backend.redis.protocol;

import java.util.ArrayList;
import java.util.List;

/**
 * Collects the steps that are possible in one state.
 */
final class Steps {

	private final List<Step<State>> steps = new ArrayList<>();

	private final Setup setup;

	private final State from;

	Steps(Setup setup, State from) {
		this.setup = setup;
		this.from = from;
	}

	void happens(Object who, String what, State to) {
		add(Step.Kind.PROTOCOL, who, what, to);
	}

	void mayHappen(Object who, String what, State to) {
		add(Step.Kind.REQUEST, who, what, to);
	}

	void happensInTime(Object who, String what, State to) {
		add(Step.Kind.TIME, who, what, to);
	}

	/**
	 * Adds a fault, if it may happen.
	 */
	void goesWrong(Fault fault, Object who, String what, State to) {
		if (this.from.faultsLeft() > 0 && this.setup.faults().contains(fault)) {
			add(Step.Kind.FAULT, who, what, to.afterFault());
		}
	}

	List<Step<State>> all() {
		return this.steps;
	}

	private void add(Step.Kind kind, Object who, String what, State to) {
		if (!to.equals(this.from)) {
			this.steps.add(new Step<>(kind, who, what, to));
		}
	}

}
