package io.github.distributedlock.protocol;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * Changed copies of sets that keep their order, so that each run is the same.
 */
final class Sets {

	private Sets() {
	}

	static <T> Set<T> with(Set<T> set, T added) {
		return set.contains(added) ? set : union(set, Set.of(added));
	}

	static <T> Set<T> without(Set<T> set, T removed) {
		return set.contains(removed) ? filtered(set, (element) -> !element.equals(removed)) : set;
	}

	static <T> Set<T> union(Set<T> one, Set<T> other) {
		Set<T> both = new LinkedHashSet<>(one);
		both.addAll(other);
		return Collections.unmodifiableSet(both);
	}

	static <T> Set<T> filtered(Set<T> set, Predicate<T> kept) {
		return set.stream().filter(kept).collect(Collectors.toCollection(LinkedHashSet::new));
	}

	static <T> Set<T> mapped(Set<T> set, UnaryOperator<T> changed) {
		return set.stream().map(changed).collect(Collectors.toCollection(LinkedHashSet::new));
	}

}
