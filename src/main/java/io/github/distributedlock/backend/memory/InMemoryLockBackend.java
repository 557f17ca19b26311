package io.github.distributedlock.backend.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

import io.github.distributedlock.backend.Attempt;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.WakeListener;
import org.jspecify.annotations.Nullable;

/**
 * A store in the memory of this JVM, for tests and the smallest applications. Engines
 * that share one exclude each other, as JVMs that share a Redis do.
 * <p>
 * Safe for use by many threads; does no I/O and never throws.
 */
public final class InMemoryLockBackend implements LockBackend {

	/*
	 * Invariant: slots are touched only with the mutex held, which is what makes a step
	 * atomic; a slot that is idle at the end of its step is dropped, one that has become
	 * so since is dropped by a sweep. Listeners are called without the mutex, so that
	 * they may come back.
	 */
	private static final int STEPS_BETWEEN_SWEEPS = 1024;

	private final ReentrantLock mutex = new ReentrantLock();

	private final Map<String, Slot> slots = new HashMap<>();

	private final Map<String, WakeListener> listeners = new ConcurrentHashMap<>();

	private final LongSupplier nanoTime;

	private long steps;

	private long lastFencingToken;

	/**
	 * Creates an empty store.
	 */
	public InMemoryLockBackend() {
		this(System::nanoTime);
	}

	/**
	 * Creates an empty store whose leases run by another clock.
	 * @param nanoTime the clock, as {@link System#nanoTime()}
	 */
	public InMemoryLockBackend(LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
	}

	@Override
	public Attempt acquire(Claim claim) {
		return attempt(claim, (value) -> value == null, false);
	}

	@Override
	public Attempt acquireOrRegister(Claim claim) {
		return attempt(claim,
				(value) -> value == null || value.equals(claim.owner()) || value.equals(RESERVED + claim.instance()),
				true);
	}

	private Attempt attempt(Claim claim, Predicate<@Nullable String> takes, boolean registers) {
		return step(claim.key(), (slot, value) -> {
			if (takes.test(value)) {
				if (claim.owner().equals(value)) {
					slot.extend(expiry(claim.lease()));
				}
				else {
					slot.set(claim.owner(), expiry(claim.lease()));
				}
				slot.unregister(claim.instance());
				return claim.fenced() ? Attempt.fenced(nextFencingToken()) : Attempt.ACQUIRED;
			}
			if (registers) {
				slot.register(claim.instance());
			}
			return Attempt.busy(value);
		});
	}

	// The time, so that those of the next run are greater, too.
	private long nextFencingToken() {
		long micros = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
		this.lastFencingToken = Math.max(this.lastFencingToken + 1, micros);
		return this.lastFencingToken;
	}

	@Override
	public void withdraw(String key, String instance) {
		wakeOldest(key, (value) -> value == null || value.equals(RESERVED + instance), instance);
	}

	@Override
	public boolean release(String key, String owner) {
		return wakeOldest(key, (value) -> value == null || value.equals(owner), null);
	}

	/**
	 * If the key's value lets it: reserves the key for its oldest waiter that listens, or
	 * frees it.
	 */
	private boolean wakeOldest(String key, Predicate<@Nullable String> applies, @Nullable String leaving) {
		List<Runnable> woken = new ArrayList<>(1);
		boolean hadValue = step(key, (slot, value) -> {
			if (leaving != null) {
				slot.unregister(leaving);
			}
			if (!applies.test(value)) {
				return false;
			}
			slot.clear();
			String waiter = slot.pollWaiter();
			while (waiter != null && woken.isEmpty()) {
				WakeListener listener = this.listeners.get(waiter);
				if (listener != null) {
					slot.set(RESERVED + waiter, expiry(RESERVATION));
					String reservedFor = waiter;
					woken.add(() -> listener.onWake(key, reservedFor));
				}
				else {
					waiter = slot.pollWaiter();
				}
			}
			return value != null;
		});
		woken.forEach(Runnable::run);
		return hadValue;
	}

	@Override
	public List<Boolean> renew(List<Claim> claims) {
		return claims.stream().map((claim) -> step(claim.key(), (slot, value) -> {
			boolean owned = claim.owner().equals(value);
			if (owned) {
				slot.extend(expiry(claim.lease()));
			}
			return owned;
		})).toList();
	}

	@Override
	public boolean park(String key, String owner, Duration rest) {
		return step(key, (slot, value) -> {
			boolean owned = owner.equals(value);
			if (owned) {
				slot.set(PARKED + owner, expiry(rest));
			}
			return owned;
		});
	}

	@Override
	public Listening listen(String instance, WakeListener listener) {
		this.listeners.put(instance, listener);
		return () -> this.listeners.remove(instance, listener);
	}

	@Override
	public void close() {
		this.listeners.clear();
	}

	private <T> T step(String key, Step<T> step) {
		this.mutex.lock();
		try {
			long now = this.nanoTime.getAsLong();
			if (++this.steps % STEPS_BETWEEN_SWEEPS == 0) {
				this.slots.values().removeIf((slot) -> slot.isIdleAt(now));
			}
			Slot slot = this.slots.computeIfAbsent(key, (k) -> new Slot());
			T result = step.apply(slot, slot.valueAt(now));
			if (slot.isIdleAt(now)) {
				this.slots.remove(key);
			}
			return result;
		}
		finally {
			this.mutex.unlock();
		}
	}

	private long expiry(Duration timeToLive) {
		return this.nanoTime.getAsLong() + timeToLive.toNanos();
	}

	private interface Step<T> {

		T apply(Slot slot, @Nullable String value);

	}

}
