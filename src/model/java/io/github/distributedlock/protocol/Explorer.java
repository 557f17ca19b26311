package io.github.distributedlock.protocol;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * Visits every state that can be reached, nearest first, so that the way to one is a
 * shortest way.
 *
 * @param <S> what the states are
 */
final class Explorer<S> {

	private final Function<S, List<Transition<S>>> transitions;

	private final Map<S, Integer> numbers = new HashMap<>();

	private final List<S> states = new ArrayList<>();

	/**
	 * From which state each one was reached first.
	 */
	private final List<Integer> origins = new ArrayList<>();

	/**
	 * The states that follow each state if nothing goes wrong.
	 */
	private final List<int[]> next = new ArrayList<>();

	Explorer(Function<S, List<Transition<S>>> transitions) {
		this.transitions = transitions;
	}

	/**
	 * Visits the states that can be reached from the first, and stops at one that is not
	 * wanted.
	 * @return that one, or {@code null} if there is none
	 */
	@Nullable S find(S first, BiPredicate<S, List<Transition<S>>> unwanted) {
		number(first, -1);
		for (int number = 0; number < this.states.size(); number++) {
			S state = this.states.get(number);
			List<Transition<S>> possible = this.transitions.apply(state);
			if (unwanted.test(state, possible)) {
				return state;
			}
			int[] following = new int[possible.size()];
			int count = 0;
			for (Transition<S> transition : possible) {
				int to = number(transition.to(), number);
				if (transition.kind() != Transition.Kind.FAULT) {
					following[count++] = to;
				}
			}
			this.next.add(Arrays.copyOf(following, count));
		}
		return null;
	}

	/**
	 * Once all states are visited, finds one from which none of those can be reached, not
	 * even if nothing goes wrong any more.
	 */
	@Nullable S findTrap(Predicate<S> end) {
		BitSet open = new BitSet();
		for (int number = 0; number < this.states.size(); number++) {
			open.set(number, end.test(this.states.get(number)));
		}
		boolean more = true;
		while (more) {
			more = false;
			// Backwards, since most steps lead to a state that was found later.
			for (int number = this.states.size() - 1; number >= 0; number--) {
				if (!open.get(number) && Arrays.stream(this.next.get(number)).anyMatch(open::get)) {
					open.set(number);
					more = true;
				}
			}
		}
		int trap = open.nextClearBit(0);
		return (trap < this.states.size()) ? this.states.get(trap) : null;
	}

	int size() {
		return this.states.size();
	}

	/**
	 * The steps that lead from the first state to this one.
	 */
	List<Transition<S>> wayTo(S state) {
		List<Transition<S>> way = new ArrayList<>();
		S to = state;
		for (int origin = origin(to); origin >= 0; origin = origin(to)) {
			S target = to;
			S from = this.states.get(origin);
			way.add(this.transitions.apply(from)
				.stream()
				.filter((transition) -> transition.to().equals(target))
				.findFirst()
				.orElseThrow());
			to = from;
		}
		Collections.reverse(way);
		return way;
	}

	private int origin(S state) {
		return this.origins.get(this.numbers.get(state));
	}

	private int number(S state, int origin) {
		Integer known = this.numbers.putIfAbsent(state, this.states.size());
		if (known != null) {
			return known;
		}
		this.states.add(state);
		this.origins.add(origin);
		return this.states.size() - 1;
	}

}
