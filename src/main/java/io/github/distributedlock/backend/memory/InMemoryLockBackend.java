package io.github.distributedlock.backend.memory;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

import io.github.distributedlock.backend.KeyState;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.backend.OptimisticLockBackend;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotification;

/**
 * A store in the memory of this JVM, for tests and the smallest applications. Engines
 * that share one such store exclude each other, as JVMs that share a Redis do.
 * <p>
 * Safe for use by many threads; does no I/O.
 *
 * @since 1.0
 */
public final class InMemoryLockBackend extends OptimisticLockBackend {

	/**
	 * How many steps lie between two sweeps. A sweep removes the states of keys that
	 * nobody has or waits for. Sweeps are rare, since most keys are used again.
	 */
	private static final int STEPS_BETWEEN_SWEEPS = 1024;

	private static final Duration RESERVATION = Duration.ofMillis(500);

	private final ConcurrentMap<String, KeyState> states = new ConcurrentHashMap<>();

	private final Map<String, ReleaseListener> listeners = new ConcurrentHashMap<>();

	private final AtomicInteger steps = new AtomicInteger();

	private final LongSupplier nanoTime;

	/**
	 * The time at which {@link #nanoTime} was zero, in microseconds since 1970.
	 */
	private final long epoch;

	private final Set<LockFeature> features = EnumSet.copyOf(super.features());

	/**
	 * Creates an empty store.
	 */
	public InMemoryLockBackend() {
		this(System::nanoTime);
	}

	/**
	 * Creates an empty store that measures leases by another clock.
	 * @param nanoTime the clock, in nanoseconds as {@link System#nanoTime()}
	 */
	public InMemoryLockBackend(LongSupplier nanoTime) {
		// All instances are in this JVM, so an instance that died has stopped listening.
		super(RESERVATION, Duration.ZERO);
		this.nanoTime = nanoTime;
		this.epoch = TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis())
				- TimeUnit.NANOSECONDS.toMicros(nanoTime.getAsLong());
		this.features.addAll(Set.of(LockFeature.NOTIFICATIONS, LockFeature.GRANTS));
	}

	@Override
	public Map<String, String> details() {
		return Map.of("type", "memory");
	}

	@Override
	public Set<LockFeature> features() {
		return this.features;
	}

	@Override
	protected Read read(String key) {
		long now = this.epoch + TimeUnit.NANOSECONDS.toMicros(this.nanoTime.getAsLong());
		if (this.steps.incrementAndGet() % STEPS_BETWEEN_SWEEPS == 0) {
			this.states.values().removeIf((state) -> state.isObsolete(now));
		}
		KeyState state = this.states.get(key);
		return new Read((state != null) ? state : KeyState.FREE, now, (state != null));
	}

	@Override
	protected boolean write(String key, Read before, KeyState after) {
		return Boolean.TRUE.equals(before.version()) ? this.states.replace(key, before.state(), after)
				: this.states.putIfAbsent(key, after) == null;
	}

	@Override
	protected boolean hears(String instance) {
		return this.listeners.containsKey(instance);
	}

	@Override
	protected void send(ReleaseNotification notification) {
		ReleaseListener listener = this.listeners.get(notification.waiter().instance());
		if (listener != null) {
			listener.onNotification(notification);
		}
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

}
