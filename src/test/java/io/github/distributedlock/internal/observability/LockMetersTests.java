package io.github.distributedlock.internal.observability;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LockMetersTests {

	private static final LockRequest SALE = LockRequest.of("a", "b").name("sale");

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final LockMeters meters = new LockMeters(this.registry);

	@Test
	void timeWaitingAndHolding() {
		this.meters.onEvent(new LockEvent.Acquired(SALE, "owner", Duration.ofMillis(20)));
		this.meters.onEvent(new LockEvent.NotAcquired(SALE, Duration.ofMillis(300), null));
		this.meters.onEvent(new LockEvent.Released(SALE, "a", "owner", Duration.ofMillis(4000)));
		assertThat(millis("distributed.lock.acquire", "outcome", "acquired")).isEqualTo(20);
		assertThat(millis("distributed.lock.acquire", "outcome", "busy")).isEqualTo(300);
		assertThat(millis("distributed.lock.held")).isEqualTo(4000);
	}

	@Test
	void mayHaveAHistogramOfHolding() {
		this.registry.config().meterFilter(new MeterFilter() {

			@Override
			public DistributionStatisticConfig configure(Meter.Id id, DistributionStatisticConfig config) {
				return DistributionStatisticConfig.builder()
					.serviceLevelObjectives(Duration.ofSeconds(1).toNanos(), Duration.ofSeconds(10).toNanos())
					.build()
					.merge(config);
			}

		});
		this.meters.onEvent(new LockEvent.Released(SALE, "a", "owner", Duration.ofMillis(4000)));
		assertThat(timer("distributed.lock.held").takeSnapshot().histogramCounts()).extracting(CountAtBucket::count)
			.containsExactly(0.0, 1.0);
	}

	@Test
	void countWhatGoesWrong() {
		this.meters.onEvent(new LockEvent.Lost(SALE, "a", "owner", Reason.NOT_RENEWED, Duration.ofSeconds(30)));
		this.meters.onEvent(new LockEvent.Lost(SALE, "b", "owner", Reason.NOT_RENEWED, Duration.ofSeconds(30)));
		this.meters.onEvent(new LockEvent.RenewedLate(SALE, "a", "owner", Duration.ofSeconds(1)));
		this.meters.onEvent(new LockEvent.ReleaseDeferred(SALE, "a", "owner",
				LockBackendException.of("down").retryable(true).build()));
		assertThat(count("distributed.lock.lost", "reason", "not_renewed")).isEqualTo(2);
		assertThat(timer("distributed.lock.held").count()).isEqualTo(2);
		assertThat(millis("distributed.lock.held")).isEqualTo(60_000);
		assertThat(count("distributed.lock.renewed.late")).isOne();
		assertThat(count("distributed.lock.release.deferred")).isOne();
	}

	@Test
	void seeWhatAnEngineDoes() {
		InMemoryLockBackend store = new InMemoryLockBackend();
		try (LockEngine engine = LockEngine.builder(store).listener(this.meters).build();
				LockEngine other = LockEngine.builder(store).build()) {
			engine.acquire(SALE).close();
			try (LockHandle handle = other.acquire("a")) {
				assertThat(engine.tryAcquire(SALE)).isEmpty();
			}
		}
		assertThat(timer("distributed.lock.acquire", "outcome", "acquired").count()).isOne();
		assertThat(timer("distributed.lock.acquire", "outcome", "busy").count()).isOne();
		assertThat(timer("distributed.lock.held").count()).as("one for each key").isEqualTo(2);
	}

	private double millis(String meter, String... tags) {
		return timer(meter, tags).totalTime(TimeUnit.MILLISECONDS);
	}

	private Timer timer(String meter, String... tags) {
		return this.registry.get(meter).tag("name", "sale").tags(tags).timer();
	}

	private double count(String meter, String... tags) {
		return this.registry.get(meter).tag("name", "sale").tags(tags).counter().count();
	}

}
