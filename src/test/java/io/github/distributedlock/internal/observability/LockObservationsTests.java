package io.github.distributedlock.internal.observability;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.WaitObserver;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Allocations;
import io.github.distributedlock.fixtures.Patience;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.Observation.Scope;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import org.assertj.core.data.Offset;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class LockObservationsTests {

	private static final String NAME = "distributed.lock.wait";

	private final TestObservationRegistry registry = TestObservationRegistry.create();

	private final InMemoryLockBackend store = new InMemoryLockBackend();

	private final LockEngine engine = engine(this.registry);

	private final LockEngine other = LockEngine.builder(this.store).build();

	private LockEngine engine(ObservationRegistry registry) {
		return LockEngine.builder(this.store).waitObserver(new LockObservations(registry)).build();
	}

	@AfterEach
	void close() {
		this.engine.close();
		this.other.close();
	}

	@Test
	void observeAWaitThatEndsWithTheLock() {
		this.engine.acquire(LockRequest.of("a", "b").name("sale").mode(LockMode.EXCLUSIVE)).close();
		observed().hasBeenStopped()
			.hasContextualNameEqualTo("lock sale")
			.hasLowCardinalityKeyValue("name", "sale")
			.hasLowCardinalityKeyValue("mode", "exclusive")
			.hasLowCardinalityKeyValue("outcome", "acquired")
			.hasHighCardinalityKeyValue("key", "a,b")
			.doesNotHaveHighCardinalityKeyValueWithKey("holder")
			.doesNotHaveError();
	}

	@Test
	void showTheBeginningOfManyKeys() {
		List<String> keys = IntStream.range(0, 300).mapToObj((number) -> "account:" + number).toList();
		this.engine.acquire(LockRequest.of(keys)).close();
		observed().hasHighCardinalityKeyValue("key", String.join(",", keys).substring(0, 250) + "…");
	}

	@Test
	void sayWhichHolderARequestHasWaitedFor() throws Exception {
		LockHandle handle = this.other.acquire("k");
		CompletableFuture<LockHandle> waiting = this.engine
			.acquireAsync(LockRequest.of("k").waitTime(Duration.ofMinutes(1)));
		Awaitility.await("the request waits")
			.atMost(Patience.PATIENCE)
			.until(() -> !this.engine.inspect("k").waiters().isEmpty());
		handle.close();
		waiting.get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS).close();
		observed().hasBeenStopped()
			.hasLowCardinalityKeyValue("outcome", "acquired")
			.hasHighCardinalityKeyValue("holder", handle.owner());
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void observeAWaitThatEndsWithoutTheLock(boolean withoutAThread) {
		LockRequest request = LockRequest.of("k");
		try (LockHandle handle = this.other.acquire("k")) {
			assertThat(withoutAThread ? Patience.get(this.engine.tryAcquireAsync(request), "the answer")
					: this.engine.tryAcquire(request))
				.isEmpty();
			observed().hasBeenStopped()
				.hasLowCardinalityKeyValue("outcome", "busy")
				.hasHighCardinalityKeyValue("holder", handle.owner())
				.doesNotHaveError();
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void observeAWaitThatFails(boolean withoutAThread) {
		this.engine.stop();
		LockRequest request = LockRequest.of("k").mode(LockMode.SHARED);
		if (withoutAThread) {
			assertThat(this.engine.acquireAsync(request)).failsWithin(Patience.PATIENCE);
		}
		else {
			assertThatExceptionOfType(RuntimeException.class).isThrownBy(() -> this.engine.acquire(request));
		}
		observed().hasBeenStopped()
			.hasLowCardinalityKeyValue("mode", "shared")
			.hasLowCardinalityKeyValue("outcome", "failed")
			.hasError();
	}

	@Test
	void observeAWaitWithoutAThread() throws Exception {
		try (LockHandle handle = this.engine.acquireAsync(LockRequest.of("k").name("sale"))
			.get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
			observed().hasBeenStopped()
				.hasLowCardinalityKeyValue("outcome", "acquired")
				.hasHighCardinalityKeyValue("key", "k");
		}
	}

	@Test
	void observeAWaitThatIsCancelled() {
		try (LockHandle handle = this.other.acquire("k")) {
			CompletableFuture<LockHandle> waiting = this.engine
				.acquireAsync(LockRequest.of("k").waitTime(Duration.ofMinutes(1)));
			waiting.cancel(false);
			Awaitility.await("the wait has ended")
				.atMost(Patience.PATIENCE)
				.untilAsserted(() -> observed().hasBeenStopped());
			observed().hasLowCardinalityKeyValue("outcome", "failed")
				.thenError()
				.isInstanceOf(CancellationException.class);
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void belongToTheTraceOfTheThreadThatAsks(boolean withoutAThread) {
		Observation request = Observation.start("request", this.registry);
		CompletableFuture<LockHandle> acquired;
		try (Scope scope = request.openScope()) {
			acquired = withoutAThread ? this.engine.acquireAsync(LockRequest.of("k"))
					: CompletableFuture.completedFuture(this.engine.acquire("k"));
		}
		request.stop();
		Patience.get(acquired, "the lock").close();
		observed().hasParentObservationEqualTo(request);
	}

	@Test
	void doNotObserveReentry() {
		try (LockHandle outer = this.engine.acquire("k"); LockHandle inner = this.engine.acquire("k")) {
			TestObservationRegistryAssert.assertThat(this.registry).hasNumberOfObservationsWithNameEqualTo(NAME, 1);
		}
	}

	@Test
	void makeNothingWithoutARegistry() {
		LockRequest request = LockRequest.of("k");
		for (ObservationRegistry noop : List.of(ObservationRegistry.NOOP, ObservationRegistry.create())) {
			LockObservations observations = new LockObservations(noop);
			assertThat(observations.begins(request)).isNull();
			assertThat(Allocations.perCall(() -> observations.begins(request))).isZero();
		}
	}

	@Test
	void makeOnlyAContextIfTheyAreSwitchedOff() {
		this.registry.observationConfig().observationPredicate((name, context) -> !name.startsWith("distributed.lock"));
		LockObservations observations = new LockObservations(this.registry);
		LockRequest request = LockRequest.of("k");
		assertThat(observations.begins(request)).isNull();
		long context = Allocations
			.perCall(() -> Observation.createNotStarted(NAME, Observation.Context::new, this.registry));
		assertThat(Allocations.perCall(() -> observations.begins(request))).isCloseTo(context, Offset.offset(32L));
		this.engine.acquire("k").close();
		TestObservationRegistryAssert.assertThat(this.registry).doesNotHaveAnyObservation();
	}

	@Test
	void haveNamesThatNoMeterOfOursHas() {
		SimpleMeterRegistry meters = new SimpleMeterRegistry();
		LockMeters lockMeters = new LockMeters(meters);
		lockMeters.expect(LockRequest.of("k").name("sale"));
		lockMeters.observe(this, (none) -> 0, (none) -> 0, (none) -> 0, (none) -> 0);
		SimpleMeterRegistry observed = new SimpleMeterRegistry();
		this.registry.observationConfig().observationHandler(new DefaultMeterObservationHandler(observed));
		this.engine.acquire("k").close();
		assertThat(names(observed)).contains(NAME).doesNotContainAnyElementsOf(names(meters));
	}

	private static List<String> names(SimpleMeterRegistry registry) {
		return registry.getMeters().stream().map((meter) -> meter.getId().getName()).toList();
	}

	@Test
	void makeAsManyMetersOfManyKeysAsOfOne() {
		SimpleMeterRegistry meters = new SimpleMeterRegistry();
		ObservationRegistry registry = ObservationRegistry.create();
		registry.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
		try (LockEngine engine = engine(registry)) {
			engine.acquire(LockRequest.of("k").name("sale")).close();
			int few = meters.getMeters().size();
			assertThat(few).isPositive();
			for (int i = 0; i < 10_000; i++) {
				engine.acquire(LockRequest.of("k" + i).name("sale")).close();
			}
			assertThat(meters.getMeters()).hasSize(few);
			assertThat(meters.get(NAME).tag("outcome", "acquired").timer().count()).isEqualTo(10_001);
		}
	}

	private TestObservationRegistryAssert.TestObservationRegistryAssertReturningObservationContextAssert observed() {
		return TestObservationRegistryAssert.assertThat(this.registry).hasObservationWithNameEqualTo(NAME).that();
	}

	@Test
	void endWhatAHandlerHasBegunIfAnotherFails() {
		assertThat(active((handler) -> handler.failsAtTheBegin = true)).isZero();
		assertThat(active((handler) -> handler.failsAtAnError = true)).isZero();
	}

	/**
	 * Returns the number of waits that Micrometer takes for active after one that has
	 * failed.
	 */
	private static int active(Consumer<Failing> how) {
		SimpleMeterRegistry meters = new SimpleMeterRegistry();
		Failing failing = new Failing();
		how.accept(failing);
		ObservationRegistry registry = ObservationRegistry.create();
		registry.observationConfig()
			.observationHandler(new DefaultMeterObservationHandler(meters))
			.observationHandler(failing);
		LockObservations observations = new LockObservations(registry);
		assertThatThrownBy(() -> {
			WaitObserver.Observed observed = observations.begins(LockRequest.of("k"));
			assertThat(meters.get(NAME + ".active").longTaskTimer().activeTasks()).isOne();
			observed.failed(new IllegalStateException("of the store"));
		}).hasMessage("of a handler");
		assertThat(meters.get(NAME).timers())
			.allSatisfy((timer) -> assertThat(timer.getId().getTag("outcome")).isEqualTo("failed"));
		return meters.get(NAME + ".active").longTaskTimer().activeTasks();
	}

	private static final class Failing implements ObservationHandler<Observation.Context> {

		private boolean failsAtTheBegin;

		private boolean failsAtAnError;

		@Override
		public void onStart(Observation.Context context) {
			failIf(this.failsAtTheBegin);
		}

		@Override
		public void onError(Observation.Context context) {
			failIf(this.failsAtAnError);
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return true;
		}

		private static void failIf(boolean fails) {
			if (fails) {
				throw new IllegalStateException("of a handler");
			}
		}

	}

}
