package io.github.distributedlock.backend.memory;

import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.DowngradableLocks;
import io.github.distributedlock.backend.HandOverResult;
import io.github.distributedlock.backend.Inspectable;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.backend.OneStepHandOver;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.ReleaseNotifications;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.WaiterQueue;

/**
 * A store in the memory of this JVM, for tests and the smallest applications. Engines
 * that share one exclude each other, as JVMs that share a Redis do.
 * <p>
 * Safe for use by many threads; does no I/O and never throws.
 */
public final class InMemoryLockBackend
		implements LockBackend, WaiterQueue, ReleaseNotifications, OneStepHandOver, DowngradableLocks, Inspectable {

	/*
	 * Invariant: slots are touched only with the mutex held, which is what makes a step
	 * atomic; a slot that is idle is dropped by the next sweep, since most keys are used
	 * again. Listeners are called without the mutex, so that they may come back.
	 */
	private static final int STEPS_BETWEEN_SWEEPS = 1024;

	private static final Duration RESERVATION = Duration.ofMillis(500);

	private final ReentrantLock mutex = new ReentrantLock();

	private final Map<String, Slot> slots = new HashMap<>();

	private final Map<String, ReleaseListener> listeners = new ConcurrentHashMap<>();

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
	public Map<String, String> details() {
		return Map.of("type", "memory");
	}

	@Override
	public Set<LockFeature> features() {
		return EnumSet.of(LockFeature.SHARED, LockFeature.FAIR, LockFeature.FENCING);
	}

	@Override
	public Duration reservation() {
		return RESERVATION;
	}

	@Override
	public AcquireResult acquire(Claim claim) {
		Slot slot = begin(claim.key());
		try {
			boolean busy = claim.mode() == LockMode.EXCLUSIVE && !slot.isFreeOrOwnedBy(claim.owner());
			return busy ? busy(slot) : attempt(slot, claim, false);
		}
		finally {
			end(claim.key(), slot);
		}
	}

	@Override
	public AcquireResult acquireOrRegister(Claim claim) {
		return step(claim.key(), (slot) -> attempt(slot, claim, true));
	}

	@Override
	public HandOverResult pass(String owner, Claim next, boolean yields) {
		return step(next.key(), (slot) -> {
			boolean owned = slot.take(owner);
			if (owned && yields) {
				slot.unregister(next.waiter());
				slot.wakeNext(expiry(RESERVATION));
			}
			return HandOverResult.of(owned, attempt(slot, next, true));
		});
	}

	private AcquireResult attempt(Slot slot, Claim claim, boolean registers) {
		if (slot.lets(claim)) {
			return give(slot, claim);
		}
		if (registers) {
			slot.register(claim.waiter());
		}
		// If it is free, others come first: the reservation for the first has run out.
		slot.wakeNext(expiry(RESERVATION));
		return slot.lets(claim) ? give(slot, claim) : busy(slot);
	}

	private AcquireResult busy(Slot slot) {
		long left = slot.holding().end() - this.nanoTime.getAsLong();
		return AcquireResult.busy(slot.holding().first(), Duration.ofNanos(left));
	}

	private AcquireResult give(Slot slot, Claim claim) {
		slot.give(claim, expiry(claim.lease()));
		return claim.fenced() ? AcquireResult.fenced(nextFencingToken()) : AcquireResult.ACQUIRED;
	}

	// The time, so that those of the next run are greater, too.
	private long nextFencingToken() {
		long micros = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
		this.lastFencingToken = Math.max(this.lastFencingToken + 1, micros);
		return this.lastFencingToken;
	}

	@Override
	public void withdraw(String key, Waiter waiter) {
		step(key, (slot) -> {
			slot.withdraw(waiter);
			slot.wakeNext(expiry(RESERVATION));
			return true;
		});
	}

	@Override
	public boolean release(String key, String owner) {
		Slot slot = begin(key);
		try {
			boolean owned = slot.take(owner);
			slot.wakeNext(expiry(RESERVATION));
			return owned;
		}
		finally {
			end(key, slot);
		}
	}

	@Override
	public boolean downgrade(String key, String owner) {
		return step(key, (slot) -> {
			boolean owned = slot.downgrade(owner);
			if (owned) {
				slot.wakeNext(expiry(RESERVATION));
			}
			return owned;
		});
	}

	@Override
	public List<Boolean> renew(List<Claim> claims) {
		return claims.stream()
			.map((claim) -> step(claim.key(), (slot) -> slot.extend(claim.owner(), expiry(claim.lease()))))
			.toList();
	}

	@Override
	public boolean leaveToExpire(String key, String owner, Duration rest) {
		return step(key, (slot) -> slot.leaveToExpire(owner, expiry(rest)));
	}

	@Override
	public LockStatus inspect(String key) {
		return step(key, (slot) -> LockStatus.of(key, slot.holding().describe(this.nanoTime.getAsLong()),
				slot.describeWaiters()));
	}

	@Override
	public Listening listen(String instance, ReleaseListener listener) {
		this.listeners.put(instance, listener);
		return () -> this.listeners.remove(instance, listener);
	}

	@Override
	public void close() {
		this.listeners.clear();
	}

	private <T> T step(String key, Function<Slot, T> step) {
		Slot slot = begin(key);
		try {
			return step.apply(slot);
		}
		finally {
			end(key, slot);
		}
	}

	/**
	 * Begins a step, which is to be {@linkplain #end ended}.
	 */
	private Slot begin(String key) {
		this.mutex.lock();
		boolean begun = false;
		try {
			long now = this.nanoTime.getAsLong();
			if (++this.steps % STEPS_BETWEEN_SWEEPS == 0) {
				this.slots.values().removeIf((slot) -> slot.isIdleAt(now));
			}
			Slot slot = this.slots.computeIfAbsent(key, (k) -> new Slot());
			slot.holding().purge(now);
			// All instances are in this JVM, so one that died has stopped listening.
			slot.bury((waiter) -> !this.listeners.containsKey(waiter.instance()));
			begun = true;
			return slot;
		}
		finally {
			if (!begun) {
				this.mutex.unlock();
			}
		}
	}

	/**
	 * Ends a step, and tells those that it has woken.
	 */
	private void end(String key, Slot slot) {
		List<Waiter> woken = slot.drainWoken();
		this.mutex.unlock();
		for (Waiter waiter : woken) {
			ReleaseListener listener = this.listeners.get(waiter.instance());
			if (listener != null) {
				listener.onRelease(ReleaseNotification.of(key, waiter));
			}
		}
	}

	private long expiry(Duration timeToLive) {
		return this.nanoTime.getAsLong() + timeToLive.toNanos();
	}

}
