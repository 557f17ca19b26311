package io.github.distributedlock.protocol;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The result of exploring a model.
 *
 * @param model the model that was explored
 * @param states how many states were visited
 * @param broken the property that does not hold, {@code null} if all hold
 * @param way the steps to the state that breaks the property
 */
record Verdict(Model<?> model, int states, @Nullable Property<?> broken, List<? extends Transition<?>> way) {

	static <S> void assertKept(Model<S> model, Set<? extends Property<? super S>> properties) {
		Verdict verdict = on(model, properties);
		System.out.println(verdict);
		assertThat(verdict.broken()).as(verdict::toString).isNull();
	}

	static <S> void assertBroken(Model<S> model, Property<? super S> property) {
		Verdict verdict = on(model, Set.of(property));
		System.out.println(verdict);
		assertThat(verdict.broken()).as(verdict::toString).isSameAs(property);
	}

	/**
	 * Explores a model until one of these properties does not hold.
	 */
	static <S> Verdict on(Model<S> model, Set<? extends Property<? super S>> properties) {
		Explorer<S> explorer = new Explorer<>(model::transitions);
		S found = explorer.find(model.first(), (state, transitions) -> broken(properties, state, transitions) != null);
		if (found != null) {
			return new Verdict(model, explorer.size(), broken(properties, found, model.transitions(found)),
					explorer.wayTo(found));
		}
		Property<? super S> recovery = properties.stream().filter(Property::isRecovery).findFirst().orElse(null);
		S trap = (recovery != null) ? explorer.findTrap(model::isOver) : null;
		return (trap != null) ? new Verdict(model, explorer.size(), recovery, explorer.wayTo(trap))
				: new Verdict(model, explorer.size(), null, List.of());
	}

	private static <S> @Nullable Property<? super S> broken(Set<? extends Property<? super S>> properties, S state,
			List<Transition<S>> transitions) {
		boolean quiet = transitions.stream().noneMatch((transition) -> transition.kind() == Transition.Kind.PROTOCOL);
		for (Property<? super S> property : properties) {
			if (!property.isKept(state, quiet)) {
				return property;
			}
		}
		return null;
	}

	@Override
	public String toString() {
		String result = this.model + ": " + this.states + " states, "
				+ ((this.broken != null) ? this.broken + " is broken by" : "all holds");
		return this.way.stream().map((transition) -> "\n  " + transition).collect(Collectors.joining("", result, ""));
	}

}
