package io.github.distributedlock;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * The bindings of one thread, innermost first; touched by that thread alone.
 * <p>
 * Invariants: a binding that is over, which any thread may bring about at any time, stays
 * so and is passed over. It is dropped when it comes to the top, and with all others of
 * its kind before the keys of the stack are twice those that were left the last time. So
 * a step costs the same, on average, however many bindings there are and in whatever
 * order they end. An empty stack refers to nothing.
 */
final class Bindings {

	/**
	 * So many keys are sooner looked through than looked up.
	 */
	private static final int FEW = 8;

	private final Deque<CurrentLock> stack = new ArrayDeque<>(2);

	/**
	 * The bindings of each key in the same order; only while there are more than a few.
	 */
	private @Nullable Map<String, Deque<CurrentLock>> index;

	/**
	 * How many keys the stack has, counted once for each binding.
	 */
	private int keys;

	private int keysToSweepAt = FEW;

	void push(CurrentLock binding) {
		dropEnded();
		if (this.keys > this.keysToSweepAt) {
			sweep();
		}
		this.stack.push(binding);
		this.keys += binding.keys.size();
		if (this.index != null) {
			addTo(this.index, binding);
		}
		else if (this.keys > FEW) {
			this.index = newIndex();
		}
	}

	@Nullable LockHandle innermost() {
		dropEnded();
		CurrentLock innermost = this.stack.peek();
		return (innermost != null) ? innermost.handle : null;
	}

	/**
	 * The innermost handle of a key that fulfils a condition.
	 */
	@Nullable LockHandle find(String key, Predicate<? super LockHandle> condition) {
		dropEnded();
		for (CurrentLock binding : candidates(key)) {
			if (!binding.isOver() && (this.index != null || binding.keys.contains(key))
					&& condition.test(binding.handle)) {
				return binding.handle;
			}
		}
		return null;
	}

	List<LockHandle> all() {
		dropEnded();
		List<LockHandle> handles = new ArrayList<>(this.stack.size());
		for (CurrentLock binding : this.stack) {
			if (!binding.isOver()) {
				handles.add(binding.handle);
			}
		}
		return handles;
	}

	/**
	 * Ends all bindings of a handle.
	 */
	void end(LockHandle handle) {
		List<String> keys = handle.keys();
		for (CurrentLock binding : keys.isEmpty() ? this.stack : candidates(keys.get(0))) {
			if (binding.handle == handle) {
				binding.end();
			}
		}
		dropEnded();
	}

	/**
	 * Drops what is over at the top.
	 */
	void dropEnded() {
		CurrentLock top = this.stack.peek();
		while (top != null && top.isOver()) {
			this.stack.pop();
			this.keys -= top.keys.size();
			if (this.index != null) {
				removeFrom(this.index, top);
			}
			top = this.stack.peek();
		}
		if (top == null) {
			this.index = null;
			this.keysToSweepAt = FEW;
		}
	}

	boolean isEmpty() {
		return this.stack.isEmpty();
	}

	private void sweep() {
		this.stack.removeIf(CurrentLock::isOver);
		this.keys = this.stack.stream().mapToInt((binding) -> binding.keys.size()).sum();
		this.keysToSweepAt = Math.max(FEW, 2 * this.keys);
		this.index = (this.keys > FEW) ? newIndex() : null;
	}

	private Iterable<CurrentLock> candidates(String key) {
		if (this.index == null) {
			return this.stack;
		}
		Deque<CurrentLock> bindings = this.index.get(key);
		if (bindings == null) {
			return List.of();
		}
		dropEnded(bindings);
		return bindings;
	}

	private Map<String, Deque<CurrentLock>> newIndex() {
		Map<String, Deque<CurrentLock>> index = new HashMap<>();
		Iterator<CurrentLock> outermostFirst = this.stack.descendingIterator();
		while (outermostFirst.hasNext()) {
			addTo(index, outermostFirst.next());
		}
		return index;
	}

	private static void addTo(Map<String, Deque<CurrentLock>> index, CurrentLock binding) {
		for (String key : binding.keys) {
			index.computeIfAbsent(key, (first) -> new ArrayDeque<>(1)).push(binding);
		}
	}

	/**
	 * Removes a binding that is over and was the topmost, so that it is for its keys,
	 * too.
	 */
	private static void removeFrom(Map<String, Deque<CurrentLock>> index, CurrentLock binding) {
		for (String key : binding.keys) {
			index.computeIfPresent(key, (same, bindings) -> {
				dropEnded(bindings);
				return bindings.isEmpty() ? null : bindings;
			});
		}
	}

	private static void dropEnded(Deque<CurrentLock> bindings) {
		CurrentLock top = bindings.peek();
		while (top != null && top.isOver()) {
			bindings.pop();
			top = bindings.peek();
		}
	}

}
