package io.github.distributedlock.concurrent;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

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
		return of(Name.of(request));
	}

	private @Nullable ThreadHold of(Name name) {
		Map<Name, ThreadHold> held = this.holds.get();
		return (held != null) ? held.get(name) : null;
	}

	/**
	 * Fails if the thread has lost what it holds of the same keys, in whichever mode: it
	 * would acquire another lock inside of the lost one.
	 * @throws io.github.distributedlock.LockLostException if it was lost
	 * @throws IllegalStateException if its handle was closed
	 */
	void checkHeld(LockRequest request) {
		for (LockMode mode : LockMode.values()) {
			ThreadHold hold = of(Name.of(request.keys(), mode));
			if (hold != null) {
				hold.checkHeld();
			}
		}
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
	private record Name(Set<String> keys, LockMode mode) {

		static Name of(LockRequest request) {
			return of(request.keys(), request.mode());
		}

		static Name of(List<String> keys, LockMode mode) {
			return new Name(Set.copyOf(keys), mode);
		}

	}

}
