package io.github.distributedlock.concurrent;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import org.jspecify.annotations.Nullable;

/**
 * What each thread holds by the locks of one {@link JdkLocks}. A thread sees and changes
 * only what it holds itself.
 * <p>
 * Invariant: a thread that holds nothing keeps nothing.
 */
final class ThreadHolds {

	private final ThreadLocal<@Nullable Map<Name, ThreadHold>> holds = new ThreadLocal<>();

	@Nullable ThreadHold of(LockRequest request) {
		Map<Name, ThreadHold> held = this.holds.get();
		return (held != null) ? held.get(Name.of(request)) : null;
	}

	void add(LockRequest request, ThreadHold hold) {
		Map<Name, ThreadHold> held = this.holds.get();
		if (held == null) {
			held = new HashMap<>();
			this.holds.set(held);
		}
		held.put(Name.of(request), hold);
	}

	void remove(LockRequest request) {
		Map<Name, ThreadHold> held = this.holds.get();
		if (held != null && held.remove(Name.of(request)) != null && held.isEmpty()) {
			this.holds.remove();
		}
	}

	/**
	 * What makes two locks the same.
	 */
	private record Name(List<String> keys, LockMode mode) {

		static Name of(LockRequest request) {
			return new Name(request.keys(), request.mode());
		}

	}

}
