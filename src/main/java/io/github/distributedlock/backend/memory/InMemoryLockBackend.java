package io.github.distributedlock.backend.memory;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;

import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;

/**
 * A store in the memory of this JVM, for tests and the smallest applications. Engines
 * that share one exclude each other, as JVMs that share a Redis do.
 * <p>
 * Safe for use by many threads; does no I/O and never throws.
 *
 * @since 1.0
 */
public final class InMemoryLockBackend implements LockBackend {

	/*
	 * Invariant: slots are touched only with the mutex held, which is what makes a step
	 * atomic; a slot that is idle is dropped by the next sweep, since most keys are used
	 * again. Listeners are called without the mutex, so that they may come back.
	 */
	private static final int STEPS_BETWEEN_SWEEPS = 1024;

	private static final Set<LockFeature> FEATURES = Set.of(LockFeature.SHARED, LockFeature.PERMITS, LockFeature.FAIR,
			LockFeature.FENCING, LockFeature.INSPECTION, LockFeature.NOTIFICATIONS, LockFeature.PLACES,
			LockFeature.GRANTS, LockFeature.HAND_OVER, LockFeature.DOWNGRADE);

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
		return FEATURES;
	}

	@Override
	public Duration reservation() {
		return Slot.RESERVATION;
	}

	@Override
	public AcquireResult acquire(Claim claim) {
		Slot slot = begin(claim.key());
		try {
			return acquire(slot, claim, false);
		}
		finally {
			end(slot);
		}
	}

	@Override
	public AcquireResult acquireOrRegister(Claim claim) {
		return step(claim.key(), (slot) -> acquire(slot, claim, true));
	}

	@Override
	public HandOverResult pass(String owner, Claim next, boolean yields) {
		return step(next.key(), (slot) -> {
			boolean owned = slot.take(owner);
			if (owned && yields) {
				slot.withdraw(next.waiter(), Set.of());
			}
			return HandOverResult.of(owned, acquire(slot, next, true));
		});
	}

	private AcquireResult acquire(Slot slot, Claim claim, boolean registers) {
		if (!slot.acquire(claim, registers)) {
			return slot.busy(claim);
		}
		return claim.fenced() ? AcquireResult.fenced(nextFencingToken()) : AcquireResult.ACQUIRED;
	}

	// The time, so that those of the next run are greater, too.
	private long nextFencingToken() {
		long micros = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis());
		this.lastFencingToken = Math.max(this.lastFencingToken + 1, micros);
		return this.lastFencingToken;
	}

	@Override
	public void withdraw(String key, Waiter waiter, Set<String> owners) {
		step(key, (slot) -> {
			slot.withdraw(waiter, owners);
			return true;
		});
	}

	@Override
	public void forget(Claim claim) {
		step(claim.key(), (slot) -> {
			slot.forget(claim);
			return true;
		});
	}

	@Override
	public boolean release(String key, String owner) {
		Slot slot = begin(key);
		try {
			boolean owned = slot.take(owner);
			slot.wakeNext();
			return owned;
		}
		finally {
			end(slot);
		}
	}

	@Override
	public boolean downgrade(String key, String owner) {
		return step(key, (slot) -> slot.downgrade(owner));
	}

	@Override
	public List<Boolean> renew(List<Renewal> renewals) {
		return renewals.stream()
			.map((each) -> step(each.key(), (slot) -> slot.renew(each.owner(), each.lease())))
			.toList();
	}

	@Override
	public boolean leaveToExpire(String key, String owner, Duration rest) {
		return step(key, (slot) -> slot.leaveToExpire(owner, rest));
	}

	@Override
	public LockStatus inspect(String key) {
		return step(key, Slot::describe);
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

	/**
	 * Carries out a step. What each lock takes does without, since it makes an object.
	 */
	private <T> T step(String key, Function<Slot, T> step) {
		Slot slot = begin(key);
		try {
			return step.apply(slot);
		}
		finally {
			end(slot);
		}
	}

	/**
	 * Begins a step, which is to be {@linkplain #end ended}.
	 */
	private Slot begin(String key) {
		this.mutex.lock();
		try {
			long now = this.nanoTime.getAsLong();
			if (++this.steps % STEPS_BETWEEN_SWEEPS == 0) {
				this.slots.values().forEach((slot) -> slot.begin(now, this.listeners));
				this.slots.values().removeIf(Slot::isIdle);
			}
			Slot slot = this.slots.computeIfAbsent(key, Slot::new);
			// All instances are in this JVM, so one that died has stopped listening.
			slot.begin(now, this.listeners);
			return slot;
		}
		catch (Throwable ex) {
			this.mutex.unlock();
			throw ex;
		}
	}

	/**
	 * Ends a step, and notifies those that it has woken.
	 */
	private void end(Slot slot) {
		List<ReleaseNotification> notifications = slot.end();
		this.mutex.unlock();
		for (ReleaseNotification notification : notifications) {
			ReleaseListener listener = this.listeners.get(notification.waiter().instance());
			if (listener != null) {
				listener.onRelease(notification);
			}
		}
	}

}
