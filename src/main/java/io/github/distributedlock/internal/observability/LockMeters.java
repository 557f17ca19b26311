package io.github.distributedlock.internal.observability;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.ToDoubleFunction;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockListener;
import io.github.distributedlock.LockRequest;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Meter.MeterProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;

/**
 * Counts and times locks. Every meter but the gauges and
 * {@code distributed.lock.kept.taken} has the tag {@code name}, the name of the request.
 * <ul>
 * <li>{@code distributed.lock.acquire}: how long requests waited; {@code outcome} is
 * {@code acquired} or {@code busy}. A request that fails is neither.</li>
 * <li>{@code distributed.lock.held}: the time from getting a key to giving the key back
 * or losing it. A key that is handed over inside the JVM before the loss is found counts
 * twice.</li>
 * <li>{@code distributed.lock.lost}: keys no longer held although nobody gave them back,
 * by {@code reason}.</li>
 * <li>{@code distributed.lock.renewed.late}: leases nearly lost.</li>
 * <li>{@code distributed.lock.release.deferred}: keys that could not be released at
 * once.</li>
 * <li>{@code distributed.lock.active} and {@code distributed.lock.waiting}: gauges of the
 * locks that are held and of the requests that wait, until the engine is closed.</li>
 * <li>{@code distributed.lock.kept} and {@code distributed.lock.kept.taken}: a gauge of
 * the locks that stay although nobody uses them, and how many requests have taken such a
 * lock.</li>
 * </ul>
 */
final class LockMeters implements LockListener, AutoCloseable {

	private static final String ACTIVE = "distributed.lock.active";

	private static final Tag ACQUIRED = Tag.of("outcome", "acquired");

	private static final Tag BUSY = Tag.of("outcome", "busy");

	private final MeterRegistry registry;

	private final List<Meter> gauges = new CopyOnWriteArrayList<>();

	private final MeterProvider<Timer> acquire;

	private final MeterProvider<Timer> held;

	private final MeterProvider<Counter> lost;

	private final MeterProvider<Counter> renewedLate;

	private final MeterProvider<Counter> releaseDeferred;

	/**
	 * Creates the meters.
	 * @param registry the registry of the meters
	 */
	LockMeters(MeterRegistry registry) {
		this.registry = registry;
		this.acquire = timer("acquire", "How long requests for locks waited");
		this.held = timer("held", "How long locks were held");
		this.lost = counter("lost", "Locks that were lost while they were held");
		this.renewedLate = counter("renewed.late", "Leases that were renewed later than planned");
		this.releaseDeferred = counter("release.deferred", "Locks that could not be released at once");
	}

	private MeterProvider<Timer> timer(String name, String description) {
		return Timer.builder("distributed.lock." + name).description(description).withRegistry(this.registry);
	}

	private MeterProvider<Counter> counter(String name, String description) {
		return Counter.builder("distributed.lock." + name).description(description).withRegistry(this.registry);
	}

	/**
	 * Registers the meters of a request with 0, so that the first loss is an increase
	 * that an alarm can see, and not a meter that appears.
	 * @param request a request like the future ones, whatever the keys
	 */
	void expect(LockRequest request) {
		Tags tags = tags(request);
		this.acquire.withTags(tags.and(ACQUIRED));
		this.acquire.withTags(tags.and(BUSY));
		this.held.withTags(tags);
		for (Reason reason : Reason.values()) {
			this.lost.withTags(tags.and(tag(reason)));
		}
		this.renewedLate.withTags(tags);
		this.releaseDeferred.withTags(tags);
	}

	/**
	 * Adds meters of an engine, which have no name of a request. The registry reads them
	 * at each scrape, so the functions should not take longer the more locks there are.
	 * The meters refer to the engine weakly, since a registry may outlive the engine. If
	 * the registry has such meters of another engine already, these stay, and none are
	 * added.
	 * @param <T> the type of the engine
	 * @param engine the engine
	 * @param held gives how many locks the engine holds
	 * @param waiting gives how many requests wait
	 * @param kept gives how many locks stay although nobody uses them
	 * @param taken gives how many requests have taken such a lock
	 */
	<T> void observe(T engine, ToDoubleFunction<T> held, ToDoubleFunction<T> waiting, ToDoubleFunction<T> kept,
			ToDoubleFunction<T> taken) {
		if (this.registry.find(ACTIVE).gauge() == null) {
			this.gauges.add(Gauge.builder(ACTIVE, engine, held)
				.description("Locks that are held by this JVM")
				.register(this.registry));
			this.gauges.add(Gauge.builder("distributed.lock.waiting", engine, waiting)
				.description("Requests of this JVM that wait for a lock")
				.register(this.registry));
			this.gauges.add(Gauge.builder("distributed.lock.kept", engine, kept)
				.description("Locks that stay with this JVM although nobody uses them")
				.register(this.registry));
			this.gauges.add(FunctionCounter.builder("distributed.lock.kept.taken", engine, taken)
				.description("Requests that have taken a lock which had stayed with this JVM")
				.register(this.registry));
		}
	}

	/**
	 * Removes the meters of the engine. The registry keeps the meters of requests.
	 */
	@Override
	public void close() {
		this.gauges.forEach(this.registry::remove);
	}

	@Override
	public void onEvent(LockEvent event) {
		Tags tags = tags(event.request());
		if (event instanceof LockEvent.Acquired acquired) {
			this.acquire.withTags(tags.and(ACQUIRED)).record(acquired.waited());
		}
		else if (event instanceof LockEvent.NotAcquired notAcquired) {
			this.acquire.withTags(tags.and(BUSY)).record(notAcquired.waited());
		}
		else if (event instanceof LockEvent.Released released) {
			this.held.withTags(tags).record(released.held());
		}
		else if (event instanceof LockEvent.Lost lost) {
			this.lost.withTags(tags.and(tag(lost.reason()))).increment();
			this.held.withTags(tags).record(lost.held());
		}
		else if (event instanceof LockEvent.RenewedLate) {
			this.renewedLate.withTags(tags).increment();
		}
		else if (event instanceof LockEvent.ReleaseDeferred) {
			this.releaseDeferred.withTags(tags).increment();
		}
	}

	/**
	 * Returns the tags that all meters of a request have.
	 */
	private static Tags tags(LockRequest request) {
		return Tags.of("name", request.name());
	}

	private static Tag tag(Reason reason) {
		return Tag.of("reason", reason.name().toLowerCase(Locale.ROOT));
	}

}
