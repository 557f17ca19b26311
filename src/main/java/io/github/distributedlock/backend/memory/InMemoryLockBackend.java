package io.github.distributedlock.backend.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.Attempt;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.Passing;
import io.github.distributedlock.backend.WakeListener;

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
	public void require(String key, LockMode mode, boolean fair) {
		if (fair && mode == LockMode.SHARED) {
			throw LockBackendException.refused("Lock '" + key + "' was requested as fair and SHARED",
					"leave fair out: who reads together has no order, and waits for writers that came before anyway",
					false, null);
		}
	}

	@Override
	public Attempt acquire(Claim claim) {
		return step(claim.key(), (slot, woken) -> {
			if (claim.mode() == LockMode.EXCLUSIVE && !slot.holding().isFree()) {
				return Attempt.busy(slot.holding().value());
			}
			return attempt(slot, claim, false, woken);
		});
	}

	@Override
	public Attempt acquireOrRegister(Claim claim) {
		return step(claim.key(), (slot, woken) -> attempt(slot, claim, true, woken));
	}

	@Override
	public Passing pass(String owner, Claim next, boolean yields) {
		return step(next.key(), (slot, woken) -> {
			boolean owned = slot.take(owner);
			if (owned && yields) {
				slot.unregister(next.waiter());
				wakeNext(next.key(), slot, woken);
			}
			return new Passing(owned, attempt(slot, next, true, woken));
		});
	}

	private Attempt attempt(Slot slot, Claim claim, boolean registers, List<Runnable> woken) {
		slot.bury(this::isDead);
		if (slot.lets(claim)) {
			return give(slot, claim);
		}
		if (registers) {
			slot.register(Waiter.of(claim));
		}
		if (slot.holding().isFree()) {
			// Others come first: the reservation for the first of them has run out.
			wakeNext(claim.key(), slot, woken);
			if (slot.holding().isFree() || slot.isReservedFor(claim.waiter())) {
				return give(slot, claim);
			}
		}
		return Attempt.busy(slot.holding().value());
	}

	private Attempt give(Slot slot, Claim claim) {
		slot.give(claim, expiry(claim.lease()));
		return claim.fenced() ? Attempt.fenced(nextFencingToken()) : Attempt.ACQUIRED;
	}

	// The time, so that those of the next run are greater, too.
	private long nextFencingToken() {
		long micros = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
		this.lastFencingToken = Math.max(this.lastFencingToken + 1, micros);
		return this.lastFencingToken;
	}

	// All instances are in this JVM, so who died has stopped listening.
	private boolean isDead(Waiter waiter) {
		return !this.listeners.containsKey(waiter.instance());
	}

	@Override
	public void withdraw(String key, String waiter) {
		step(key, (slot, woken) -> {
			slot.withdraw(waiter);
			if (slot.holding().isShared()) {
				// Readers behind a writer that gave up need not wait for it.
				admitReaders(key, slot, woken);
			}
			else {
				wakeNext(key, slot, woken);
			}
			return true;
		});
	}

	@Override
	public boolean release(String key, String owner) {
		return step(key, (slot, woken) -> {
			boolean owned = slot.take(owner);
			wakeNext(key, slot, woken);
			return owned;
		});
	}

	/**
	 * Reserves a key that is free for its oldest waiter, or for all readers that are
	 * next.
	 */
	private void wakeNext(String key, Slot slot, List<Runnable> woken) {
		slot.bury(this::isDead);
		Waiter oldest = slot.oldest();
		if (oldest == null || !slot.holding().isFree()) {
			return;
		}
		if (oldest.reads()) {
			admitReaders(key, slot, woken);
			return;
		}
		if (!oldest.keepsPlace()) {
			slot.unregister(oldest.name());
		}
		slot.holding().set(RESERVED + oldest.name(), expiry(RESERVATION));
		woken.add(wakeUp(key, oldest));
	}

	private void admitReaders(String key, Slot slot, List<Runnable> woken) {
		slot.bury(this::isDead);
		for (Waiter next = slot.oldest(); next != null && next.reads(); next = slot.oldest()) {
			slot.unregister(next.name());
			slot.holding().share(RESERVED + next.instance(), expiry(RESERVATION));
			woken.add(wakeUp(key, next));
		}
	}

	private Runnable wakeUp(String key, Waiter waiter) {
		WakeListener listener = Objects.requireNonNull(this.listeners.get(waiter.instance()));
		return () -> listener.onWake(key, waiter.name());
	}

	@Override
	public List<Boolean> renew(List<Claim> claims) {
		return claims.stream()
			.map((claim) -> step(claim.key(), (slot, woken) -> slot.extend(claim.owner(), expiry(claim.lease()))))
			.toList();
	}

	@Override
	public boolean park(String key, String owner, Duration rest) {
		return step(key, (slot, woken) -> slot.park(owner, expiry(rest)));
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
		List<Runnable> woken = new ArrayList<>(1);
		T result = alone(key, step, woken);
		woken.forEach(Runnable::run);
		return result;
	}

	private <T> T alone(String key, Step<T> step, List<Runnable> woken) {
		this.mutex.lock();
		try {
			long now = this.nanoTime.getAsLong();
			if (++this.steps % STEPS_BETWEEN_SWEEPS == 0) {
				this.slots.values().removeIf((slot) -> slot.isIdleAt(now));
			}
			Slot slot = this.slots.computeIfAbsent(key, (k) -> new Slot());
			slot.holding().purge(now);
			T result = step.apply(slot, woken);
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

		/**
		 * Does it.
		 * @param slot the key
		 * @param woken where to put what is to be told afterwards
		 */
		T apply(Slot slot, List<Runnable> woken);

	}

}
