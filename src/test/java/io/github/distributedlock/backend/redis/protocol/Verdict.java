package io.github.distributedlock.backend.redis.protocol;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * What came of exploring a setup.
 *
 * @param setup what was explored
 * @param states how many states were visited
 * @param broken the property that does not hold, {@code null} if all do
 * @param way the steps to where it does not
 */
record Verdict(Setup setup, int states, @Nullable Property broken, List<Step<State>> way) {

	/**
	 * Explores a setup until one of these properties does not hold.
	 */
	static Verdict on(Setup setup, Set<Property> properties) {
		Explorer<State> explorer = new Explorer<>(new Protocol(setup)::steps);
		State found = explorer.find(State.first(setup),
				(state, steps) -> properties.stream().anyMatch((property) -> !property.test(state, steps)));
		if (found != null) {
			List<Step<State>> steps = new Protocol(setup).steps(found);
			Property broken = properties.stream()
				.filter((property) -> !property.test(found, steps))
				.findFirst()
				.orElseThrow();
			return new Verdict(setup, explorer.size(), broken, explorer.wayTo(found));
		}
		State trap = properties.contains(Property.RECOVERY) ? explorer.findTrap(State::isOver) : null;
		return (trap != null) ? new Verdict(setup, explorer.size(), Property.RECOVERY, explorer.wayTo(trap))
				: new Verdict(setup, explorer.size(), null, List.of());
	}

	@Override
	public String toString() {
		String result = this.setup + ": " + this.states + " states, "
				+ ((this.broken != null) ? this.broken + " is broken by" : "all holds");
		return this.way.stream().map((step) -> "\n  " + step).collect(Collectors.joining("", result, ""));
	}

}
