package io.github.distributedlock.concurrent;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import org.jspecify.annotations.Nullable;

/**
 * Knows which locks of one {@link JdkLocks} each thread holds, and how often. A thread
 * sees and changes only its own holds.
 * <p>
 * Invariants: a thread that holds nothing keeps nothing. A thread that has ended is
 * forgotten before the number of threads has doubled. This class closes no handle before
 * the lock was unlocked as often as it was locked. Other code may close a handle.
 */
final class ThreadHolds {

	private static final int FEW = 64;

	/**
	 * The holds by thread. They are not kept in a thread-local: a thread that outlives
	 * the application would keep what the thread never unlocks, and so the class loader.
	 */
	private final Map<Thread, Map<Name, Hold>> holds = new ConcurrentHashMap<>();

	/**
	 * The number of threads at which threads that have ended are removed.
	 */
	private volatile int most = FEW;

	/**
	 * Counts one more, if the thread holds the lock.
	 * @return whether the thread holds the lock
	 * @throws LockLostException if the thread has lost what it holds of the same keys, in
	 * whichever mode: the thread would acquire another lock inside of the lost one
	 * @throws IllegalStateException if the handle of the hold was closed
	 */
	boolean reenter(LockRequest request) {
		Map<Name, Hold> held = this.holds.get(Thread.currentThread());
		if (held == null) {
			return false;
		}
		Name name = Name.of(request);
		held.forEach((other, inAnyMode) -> {
			if (other.keys.equals(name.keys)) {
				inAnyMode.handle.checkHeld();
			}
		});
		Hold hold = held.get(name);
		if (hold != null) {
			hold.count = Math.incrementExact(hold.count);
		}
		return hold != null;
	}

	void add(LockRequest request, LockHandle handle) {
		if (this.holds.size() >= this.most) {
			this.holds.keySet().removeIf((thread) -> !thread.isAlive());
			this.most = 2 * Math.max(FEW, this.holds.size());
		}
		this.holds.computeIfAbsent(Thread.currentThread(), (thread) -> new HashMap<>())
			.put(Name.of(request), new Hold(handle));
	}

	/**
	 * Counts one less, and releases the lock with the last.
	 * @return whether the thread had the lock
	 * @throws IllegalMonitorStateException if the lock was not held until now; the cause
	 * says why
	 */
	boolean exit(LockRequest request) {
		Map<Name, Hold> held = this.holds.get(Thread.currentThread());
		Name name = Name.of(request);
		Hold hold = (held != null) ? held.get(name) : null;
		if (held == null || hold == null) {
			return false;
		}
		RuntimeException reason = whyNotHeld(hold.handle);
		hold.count--;
		if (hold.count == 0) {
			held.remove(name);
			if (held.isEmpty()) {
				this.holds.remove(Thread.currentThread());
			}
			if (!hold.handle.release() && reason == null) {
				reason = new LockLostException(
						"Lock " + LockException.printable(hold.handle.keys()) + " of " + hold.handle.owner()
								+ " was lost: at its release, the store said that the key was no longer ours",
						null, hold.handle.keys(), LockEvent.Lost.Reason.TAKEN);
			}
		}
		if (reason != null) {
			throw (RuntimeException) new IllegalMonitorStateException(reason.getMessage()).initCause(reason);
		}
		return true;
	}

	private static @Nullable RuntimeException whyNotHeld(LockHandle handle) {
		try {
			handle.checkHeld();
			return null;
		}
		catch (LockLostException | IllegalStateException ex) {
			return ex;
		}
	}

	/**
	 * Identifies a lock: two locks with the same keys, mode and number of permits are the
	 * same lock. Another number is left to the {@code DistributedLock}, which refuses to
	 * re-enter one of several permits with fewer: others may have the other permits.
	 */
	private record Name(Set<String> keys, LockMode mode, int permits) {

		static Name of(LockRequest request) {
			return new Name(Set.copyOf(request.keys()), request.mode(), request.permits());
		}

	}

	private static final class Hold {

		private final LockHandle handle;

		private int count = 1;

		private Hold(LockHandle handle) {
			this.handle = handle;
		}

	}

}
