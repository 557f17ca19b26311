package io.github.distributedlock.aop;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockDefinitionException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.OnLost;
import io.github.distributedlock.ReleaseOn;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.ConnectableFlux;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The attributes for busy and lost locks, on methods whose result is subscribed to.
 */
class ReactiveAttributesTests extends ReactiveFixture<ReactiveAttributesTests.Service> {

	ReactiveAttributesTests() {
		super(Service.class);
	}

	@Test
	void busyLockIsAFailure() {
		this.lock.busy = true;
		StepVerifier.create(this.service.mono(() -> body("value"))).verifyError(LockNotAcquiredException.class);
		assertThat(this.events).containsExactly("busy");
	}

	@Test
	void skippedCallIsEmpty() {
		this.lock.busy = true;
		StepVerifier.create(this.service.skipped(() -> body("value"))).verifyComplete();
		assertThat(this.events).containsExactly("busy");
		this.lock.busy = false;
		StepVerifier.create(this.service.skipped(() -> body("value"))).expectNext("value").verifyComplete();
	}

	@Test
	void fallbackIsSubscribedToWithoutTheLock() {
		this.lock.busy = true;
		StepVerifier.create(this.service.withFallback("x"))
			.expectNext("fallback of x: LockNotAcquiredException")
			.verifyComplete();
		this.lock.failure = LockBackendException.of("down").build();
		StepVerifier.create(this.service.withFallback("y"))
			.expectNext("fallback of y: LockBackendException")
			.verifyComplete();
		assertThat(this.events).containsExactly("busy");
	}

	@Test
	void elementsOfTheFallbackTakeThePlaceOfTheElements() {
		this.lock.busy = true;
		StepVerifier.create(this.service.manyWithFallback("x"))
			.expectNext("fallback of x", "LockNotAcquiredException")
			.verifyComplete();
		this.lock.busy = false;
		StepVerifier.create(this.service.manyWithFallback("x")).expectNext("x").verifyComplete();
		assertThat(this.events).containsExactly("busy", "acquire", "release");
	}

	@Test
	void fallbackIsNotCalledForAFailureOfTheMethod() {
		StepVerifier.create(this.service.withFallback(null)).verifyErrorMessage("no argument");
	}

	@Test
	void lossTakesThePlaceOfTheValue() {
		TestPublisher<String> source = TestPublisher.create();
		StepVerifier.create(this.service.throwing(source::mono))
			.then(this.lock::lose)
			.then(() -> source.emit("value"))
			.verifyError(LockLostException.class);
		assertThat(this.events).containsExactly("acquire", "lost", "release");
	}

	/**
	 * An application's own handle may throw.
	 */
	@Test
	void handleThatDoesNotTellWhetherItWasLostIsClosed() {
		this.lock.failureOnCheck = new UnsupportedOperationException("no");
		StepVerifier.create(this.service.throwing(() -> body("value"))).verifyErrorMessage("no");
		assertThat(this.events).containsExactly("acquire", "body", "release");
	}

	@Test
	void lossIsAddedToTheFailure() {
		TestPublisher<String> source = TestPublisher.create();
		StepVerifier.create(this.service.throwing(source::mono))
			.then(this.lock::lose)
			.then(() -> source.error(new IllegalStateException("no")))
			.verifyErrorSatisfies((thrown) -> {
				assertThat(thrown).hasMessage("no");
				assertThat(thrown.getSuppressed()).singleElement().isInstanceOf(LockLostException.class);
			});
	}

	@Test
	void lossEndsTheSubscription() {
		TestPublisher<String> source = TestPublisher.create();
		StepVerifier.create(this.service.interrupting(source::flux))
			.then(() -> source.next("a"))
			.expectNext("a")
			.then(this.lock::lose)
			.verifyError(LockLostException.class);
		source.assertCancelled();
		assertThat(this.events).containsExactly("acquire", "lost", "release");
	}

	@Test
	void attributesAsForOtherMethods() {
		StepVerifier.create(this.service.special()).expectNext(1L).verifyComplete();
		LockRequest request = this.lock.request();
		assertThat(request.keys()).containsExactly("a", "b");
		assertThat(request.mode()).isEqualTo(LockMode.SHARED);
		assertThat(request.minHoldTime()).isEqualTo(Duration.ofSeconds(1));
		assertThat(request.releaseOn()).isEqualTo(ReleaseOn.EXPIRY);
		assertThat(request.awaitedOnStop()).isTrue();
		StepVerifier.create(this.service.numbered()).expectNext(1L).verifyComplete();
		assertThat(this.lock.request().fair()).isTrue();
		assertThat(this.lock.request().fenced()).isTrue();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					nested    | nested(): the method returns a reactive stream (reactor.core.publisher.Flux) inside of a Mono | and the lock would be released before that is done
					futures   | futures(): the method returns a future (java.util.concurrent.CompletableFuture) inside of a Flux | and the lock would be released before that is done
					processor | processor(): the method returns a reactive stream (reactor.core.publisher.ConnectableFlux) | (let the result be the stream itself, declared as Mono, Flux or Publisher, or as the basic type of its library, or lock in code)
					""")
	void resultThatOutlivesTheLockIsRefused(String method, String problem, String remedy) {
		assertThatExceptionOfType(LockDefinitionException.class)
			.isThrownBy(() -> Definitions.of(Results.class, method, "", Map.of()))
			.withMessageContainingAll(problem, remedy);
	}

	@Test
	void futureThatOnlyTheElementTells() {
		try (AdvisorContext context = AdvisorContext.of(Open.class)) {
			StepVerifier.create(context.get(Open.class).mono(new CompletableFuture<>()))
				.verifyErrorSatisfies((failure) -> assertThat(failure).hasMessageContaining(
						"Open.mono(Object): the method has returned a future (java.util.concurrent.CompletableFuture)"));
			StepVerifier.create(context.get(Open.class).flux("x", new CompletableFuture<>()))
				.expectNext("x")
				.verifyErrorSatisfies((failure) -> assertThat(failure)
					.hasMessageContaining("the method has returned a future (java.util.concurrent.CompletableFuture)"));
			assertThat(context.lock().events).containsExactly("acquire", "release", "acquire", "release");
		}
	}

	static class Open {

		@DistributedLock(key = "'k'")
		public Mono<Object> mono(Object element) {
			return Mono.just(element);
		}

		@DistributedLock(key = "'k'")
		public Flux<Object> flux(Object... elements) {
			return Flux.just(elements);
		}

	}

	interface Results {

		Mono<Flux<String>> nested();

		Flux<CompletableFuture<String>> futures();

		ConnectableFlux<String> processor();

	}

	static class Service extends ReactiveFixture.Service {

		@DistributedLock(key = "'k'", fair = true, fenced = true)
		public Mono<Long> numbered() {
			return Mono.just(1L);
		}

		@DistributedLock(key = "'k'", ifBusy = IfBusy.SKIP)
		public Mono<String> skipped(Supplier<Mono<String>> body) {
			return body.get();
		}

		@DistributedLock(key = "'k'", fallback = "instead")
		public Mono<String> withFallback(String argument) {
			return (argument != null) ? Mono.just(argument) : Mono.error(new IllegalStateException("no argument"));
		}

		Mono<String> instead(String argument, LockException failure) {
			return Mono.just("fallback of " + argument + ": " + failure.getClass().getSimpleName());
		}

		@DistributedLock(key = "'k'", onLost = OnLost.THROW)
		public Mono<String> throwing(Supplier<Mono<String>> body) {
			return body.get();
		}

		@DistributedLock(key = "'k'", onLost = OnLost.INTERRUPT)
		public Flux<String> interrupting(Supplier<Flux<String>> body) {
			return body.get();
		}

		@DistributedLock(key = "'k'", fallback = "elements")
		public Flux<String> manyWithFallback(String argument) {
			return Flux.just(argument);
		}

		Flux<String> elements(String argument, LockException failure) {
			return Flux.just("fallback of " + argument, failure.getClass().getSimpleName());
		}

		@DistributedLock(key = { "'a'", "'b'" }, mode = LockMode.SHARED, minHoldTime = "1s",
				releaseOn = ReleaseOn.EXPIRY)
		public Mono<Long> special() {
			return Mono.just(1L);
		}

	}

}
