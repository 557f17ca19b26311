package io.github.distributedlock;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * The binding of a {@link LockHandle} to a thread, which makes the handle
 * {@linkplain LockHandle#current() current} there and the lock reentrant.
 * <p>
 * Acquiring binds to the acquiring thread. To hand a lock to a task on another thread,
 * bind it there for as long as the task runs, while the handle stays open:
 *
 * <pre class="code">
 * LockHandle handle = LockHandle.current().orElseThrow();
 * executor.submit(() -> {
 *     try (CurrentLock binding = CurrentLock.bind(handle)) {
 *         … // calls that need the lock re-enter it
 *     }
 * });
 * </pre>
 *
 * The threads that share a handle this way are not excluded from each other.
 */
public final class CurrentLock implements AutoCloseable {

	/*
	 * Each thread has a stack of its bindings, innermost first, touched by that thread
	 * alone. A binding may be ended by any thread; one that another thread ended stays on
	 * the stack until its own thread looks there next, and is passed over. An empty stack
	 * stays with its thread: it refers to nothing.
	 */
	private static final ThreadLocal<@Nullable Deque<CurrentLock>> BINDINGS = new ThreadLocal<>();

	private final LockHandle handle;

	private volatile boolean ended;

	private CurrentLock(LockHandle handle) {
		this.handle = handle;
	}

	/**
	 * Binds a handle to the calling thread, as its innermost lock.
	 * @param handle the handle of a lock
	 * @return the binding, to be closed when the thread has done with the lock; closing
	 * it does not give the lock back
	 */
	public static CurrentLock bind(LockHandle handle) {
		CurrentLock binding = new CurrentLock(Objects.requireNonNull(handle, "handle"));
		prune(null);
		Deque<CurrentLock> bindings = BINDINGS.get();
		if (bindings == null) {
			bindings = new ArrayDeque<>(2);
			BINDINGS.set(bindings);
		}
		bindings.push(binding);
		return binding;
	}

	/**
	 * Takes a handle away from the calling thread without giving the lock back: it is no
	 * longer current there and cannot be re-entered.
	 * @param handle the handle of a lock
	 */
	public static void unbind(LockHandle handle) {
		prune(handle);
	}

	/**
	 * The handles bound to the calling thread.
	 * @return the handles, innermost first
	 */
	public static List<LockHandle> all() {
		Deque<CurrentLock> bindings = BINDINGS.get();
		if (bindings == null || bindings.isEmpty()) {
			return List.of();
		}
		List<LockHandle> handles = new ArrayList<>(bindings.size());
		for (CurrentLock binding : bindings) {
			if (!binding.ended) {
				handles.add(binding.handle);
			}
		}
		return handles;
	}

	static Optional<LockHandle> innermost() {
		prune(null);
		Deque<CurrentLock> bindings = BINDINGS.get();
		CurrentLock innermost = (bindings != null) ? bindings.peek() : null;
		return (innermost != null) ? Optional.of(innermost.handle) : Optional.empty();
	}

	private static void prune(@Nullable LockHandle unbound) {
		Deque<CurrentLock> bindings = BINDINGS.get();
		if (bindings == null || bindings.isEmpty()) {
			return;
		}
		if (bindings.size() == 1 && isOver(bindings.element(), unbound)) {
			bindings.clear();
		}
		else {
			bindings.removeIf((binding) -> isOver(binding, unbound));
		}
	}

	private static boolean isOver(CurrentLock binding, @Nullable LockHandle unbound) {
		return binding.ended || binding.handle == unbound;
	}

	/**
	 * Ends this binding; from any thread, any number of times.
	 */
	@Override
	public void close() {
		this.ended = true;
		prune(null);
	}

}
