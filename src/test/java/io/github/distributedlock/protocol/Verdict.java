package io.github.distributedlock.protocol;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What came of exploring a model.
 *
 * @param model what was explored
 * @param states how many states were visited
 * @param broken the promise that is not kept, {@code null} if all are
 * @param way the steps to where it is not
 */
record Verdict(Model<?> model, int states, @Nullable Promise<?> broken, List<? extends Step<?>> way) {

	static <S> void assertKept(Model<S> model, Set<? extends Promise<? super S>> promises) {
		Verdict verdict = on(model, promises);
		System.out.println(verdict);
		assertThat(verdict.broken()).as(verdict::toString).isNull();
	}

	static <S> void assertBroken(Model<S> model, Promise<? super S> promise) {
		Verdict verdict = on(model, Set.of(promise));
		System.out.println(verdict);
		assertThat(verdict.broken()).as(verdict::toString).isSameAs(promise);
	}

	/**
	 * Explores a model until one of these promises is not kept.
	 */
	static <S> Verdict on(Model<S> model, Set<? extends Promise<? super S>> promises) {
		Explorer<S> explorer = new Explorer<>(model::steps);
		S found = explorer.find(model.first(), (state, steps) -> broken(promises, state, steps) != null);
		if (found != null) {
			return new Verdict(model, explorer.size(), broken(promises, found, model.steps(found)),
					explorer.wayTo(found));
		}
		Promise<? super S> recovery = promises.stream().filter(Promise::isRecovery).findFirst().orElse(null);
		S trap = (recovery != null) ? explorer.findTrap(model::isOver) : null;
		return (trap != null) ? new Verdict(model, explorer.size(), recovery, explorer.wayTo(trap))
				: new Verdict(model, explorer.size(), null, List.of());
	}

	private static <S> @Nullable Promise<? super S> broken(Set<? extends Promise<? super S>> promises, S state,
			List<Step<S>> steps) {
		boolean quiet = steps.stream().noneMatch((step) -> step.kind() == Step.Kind.PROTOCOL);
		for (Promise<? super S> promise : promises) {
			if (!promise.isKept(state, quiet)) {
				return promise;
			}
		}
		return null;
	}

	@Override
	public String toString() {
		String result = this.model + ": " + this.states + " states, "
				+ ((this.broken != null) ? this.broken + " is broken by" : "all holds");
		return this.way.stream().map((step) -> "\n  " + step).collect(Collectors.joining("", result, ""));
	}

}
