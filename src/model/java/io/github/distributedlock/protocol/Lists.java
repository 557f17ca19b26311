package io.github.distributedlock.protocol;

import java.util.ArrayList;
import java.util.List;

/**
 * Changed copies of immutable lists.
 */
final class Lists {

	private Lists() {
	}

	static <T> List<T> with(List<T> list, T added) {
		if (list.contains(added)) {
			return list;
		}
		List<T> copy = new ArrayList<>(list);
		copy.add(added);
		return List.copyOf(copy);
	}

	static <T> List<T> without(List<T> list, T removed) {
		if (!list.contains(removed)) {
			return list;
		}
		return list.stream().filter((element) -> !element.equals(removed)).toList();
	}

	static <T> List<T> replaced(List<T> list, int index, T element) {
		List<T> copy = new ArrayList<>(list);
		copy.set(index, element);
		return List.copyOf(copy);
	}

}
