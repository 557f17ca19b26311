package io.github.distributedlock;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
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
 * order they end. An empty stack refers to nothing, and a binding that was dropped to no
 * other.
 */
final class Bindings {

	/**
	 * So many keys are sooner looked through than looked up.
	 */
	private static final int FEW = 8;

	/**
	 * The top of the stack, which is linked by {@link CurrentLock#outer}.
	 */
	private @Nullable CurrentLock innermost;

	/**
	 * Only while there are more than a few keys, or were when the stack was swept last.
	 */
	private @Nullable Index index;

	/**
	 * How many keys the stack has, counted once for each binding.
	 */
	private int keys;

	void push(CurrentLock binding) {
		dropEnded();
		if (this.index != null && this.keys > this.index.keysToSweepAt) {
			sweep();
		}
		link(binding);
		if (this.index != null) {
			this.index.add(binding);
		}
		else if (this.keys > FEW) {
			sweep();
		}
	}

	private void link(CurrentLock binding) {
		binding.outer = this.innermost;
		this.innermost = binding;
		this.keys += binding.keys.size();
	}

	@Nullable LockHandle innermost() {
		dropEnded();
		return (this.innermost != null) ? this.innermost.handle : null;
	}

	/**
	 * The innermost handle of a key that may be re-entered and fulfils a condition.
	 */
	@Nullable LockHandle find(String key, Predicate<? super LockHandle> condition) {
		dropEnded();
		if (this.index != null) {
			for (CurrentLock binding : this.index.of(key)) {
				if (binding.reentrant && !binding.isOver() && condition.test(binding.handle)) {
					return binding.handle;
				}
			}
			return null;
		}
		for (CurrentLock binding = this.innermost; binding != null; binding = binding.outer) {
			if (binding.reentrant && !binding.isOver() && binding.keys.contains(key)
					&& condition.test(binding.handle)) {
				return binding.handle;
			}
		}
		return null;
	}

	/**
	 * The open handles that may be re-entered.
	 */
	List<LockHandle> all() {
		dropEnded();
		List<LockHandle> handles = new ArrayList<>();
		for (CurrentLock binding : stack()) {
			if (binding.reentrant && !binding.isOver()) {
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
		for (CurrentLock binding : (this.index != null && !keys.isEmpty()) ? this.index.of(keys.get(0)) : stack()) {
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
		while (this.innermost != null && this.innermost.isOver()) {
			CurrentLock top = this.innermost;
			this.innermost = top.outer;
			top.outer = null;
			this.keys -= top.keys.size();
			if (this.index != null) {
				this.index.remove(top);
			}
		}
		if (this.innermost == null) {
			this.index = null;
		}
	}

	boolean isEmpty() {
		return this.innermost == null;
	}

	private void sweep() {
		List<CurrentLock> stack = stack();
		this.innermost = null;
		this.keys = 0;
		for (int i = stack.size() - 1; i >= 0; i--) {
			CurrentLock binding = stack.get(i);
			binding.outer = null;
			if (!binding.isOver()) {
				link(binding);
			}
		}
		this.index = (this.keys > FEW) ? new Index(stack(), 2 * this.keys) : null;
	}

	private List<CurrentLock> stack() {
		List<CurrentLock> stack = new ArrayList<>();
		for (CurrentLock binding = this.innermost; binding != null; binding = binding.outer) {
			stack.add(binding);
		}
		return stack;
	}

	/**
	 * The bindings of each key, in the order of the stack.
	 */
	private static final class Index {

		private final Map<String, Deque<CurrentLock>> bindings = new HashMap<>();

		final int keysToSweepAt;

		Index(List<CurrentLock> stack, int keysToSweepAt) {
			this.keysToSweepAt = keysToSweepAt;
			for (int i = stack.size() - 1; i >= 0; i--) {
				add(stack.get(i));
			}
		}

		Collection<CurrentLock> of(String key) {
			Deque<CurrentLock> ofKey = this.bindings.get(key);
			if (ofKey == null) {
				return List.of();
			}
			dropEnded(ofKey);
			return ofKey;
		}

		void add(CurrentLock binding) {
			for (String key : binding.keys) {
				this.bindings.computeIfAbsent(key, (first) -> new ArrayDeque<>(1)).push(binding);
			}
		}

		/**
		 * Removes a binding that is over and was the topmost, so that it is for its keys,
		 * too.
		 */
		void remove(CurrentLock binding) {
			for (String key : binding.keys) {
				this.bindings.computeIfPresent(key, (same, ofKey) -> {
					dropEnded(ofKey);
					return ofKey.isEmpty() ? null : ofKey;
				});
			}
		}

		private static void dropEnded(Deque<CurrentLock> ofKey) {
			CurrentLock top = ofKey.peek();
			while (top != null && top.isOver()) {
				ofKey.pop();
				top = ofKey.peek();
			}
		}

	}

}
