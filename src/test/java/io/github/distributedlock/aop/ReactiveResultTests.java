package io.github.distributedlock.aop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Supplier;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.reactive.LockContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;

import org.springframework.beans.BeanUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Each subscription to a result takes the lock, and holds the lock until the subscription
 * ends.
 */
class ReactiveResultTests extends ReactiveFixture<ReactiveResultTests.Service> {

	ReactiveResultTests() {
		super(Service.class);
	}

	@Test
	void valueIsPassedOnAfterTheRelease() {
		CompletableFuture<Void> released = new CompletableFuture<>();
		this.lock.released = released;
		StepVerifier.create(this.service.mono(() -> body("value")).doOnNext((value) -> this.events.add("passed on")))
			.expectSubscription()
			.then(() -> assertThat(this.events).containsExactly("acquire", "body", "release begins"))
			.then(() -> {
				this.events.add("released");
				released.complete(null);
			})
			.expectNext("value")
			.verifyComplete();
		assertThat(this.events).containsExactly("acquire", "body", "release begins", "released", "passed on");
	}

	@Test
	void emptyResult() {
		StepVerifier.create(this.service.mono(Mono::empty)).verifyComplete();
		assertThat(this.events).containsExactly("acquire", "release");
	}

	@Test
	void errorIsPassedOnAfterTheRelease() {
		IllegalStateException failure = new IllegalStateException("no");
		StepVerifier
			.create(this.service.mono(() -> Mono.error(failure)).doOnError((thrown) -> this.events.add("passed on")))
			.verifyErrorSatisfies((thrown) -> assertThat(thrown).isSameAs(failure));
		assertThat(this.events).containsExactly("acquire", "release", "passed on");
	}

	@Test
	void exceptionOfTheMethodIsASignal() {
		IllegalStateException failure = new IllegalStateException("no");
		StepVerifier.create(this.service.mono(() -> {
			throw failure;
		})).verifyErrorSatisfies((thrown) -> assertThat(thrown).isSameAs(failure));
		assertThat(this.events).containsExactly("acquire", "release");
	}

	/**
	 * Reactor lets errors of these kinds through. The lock would stay for ever.
	 */
	@ParameterizedTest
	@ValueSource(classes = { NoClassDefFoundError.class, StackOverflowError.class })
	void errorOfTheMethodIsASignal(Class<? extends Error> type) {
		StepVerifier.create(this.service.mono(() -> {
			throw BeanUtils.instantiateClass(type);
		})).verifyError(type);
		assertThat(this.events).containsExactly("acquire", "release");
	}

	@Test
	void methodThatReturnsNull() {
		StepVerifier.create(this.service.mono(() -> null))
			.verifyErrorSatisfies((thrown) -> assertThat(thrown)
				.hasMessageContaining("Service.mono(Supplier): the method has returned null"));
		assertThat(this.events).containsExactly("acquire", "release");
	}

	@Test
	void elementsArePassedOnAtOnce() {
		CompletableFuture<Void> released = new CompletableFuture<>();
		this.lock.released = released;
		TestPublisher<String> source = TestPublisher.create();
		StepVerifier.create(this.service.flux(source::flux).doOnComplete(() -> this.events.add("complete")))
			.then(() -> source.next("a", "b"))
			.expectNext("a", "b")
			.then(() -> assertThat(this.events).containsExactly("acquire"))
			.then(source::complete)
			.then(() -> assertThat(this.events).containsExactly("acquire", "release begins"))
			.then(() -> released.complete(null))
			.verifyComplete();
	}

	@Test
	void demandIsPassedOn() {
		StepVerifier.create(this.service.flux(() -> Flux.range(0, 1000).map(String::valueOf)), 0)
			.thenRequest(2)
			.expectNext("0", "1")
			.then(() -> assertThat(this.events).containsExactly("acquire"))
			.thenRequest(1000)
			.expectNextCount(998)
			.verifyComplete();
		assertThat(this.events).containsExactly("acquire", "release");
	}

	@Test
	void requestThatFailsAtOnceIsAnError() {
		this.lock.errorOnRequest = new NoClassDefFoundError("test");
		StepVerifier.create(this.service.mono(() -> body("value"))).verifyError(NoClassDefFoundError.class);
	}

	/**
	 * A decorator of an application may fail like this.
	 */
	@Test
	void schedulerThatFails() {
		Schedulers.onScheduleHook("broken", (task) -> {
			throw new IllegalStateException("broken");
		});
		try {
			this.lock.turn = new CompletableFuture<>();
			CompletableFuture<String> result = this.service.mono(() -> body("value")).toFuture();
			this.lock.turn.complete(null);
			assertThat(result).succeedsWithin(Patience.PATIENCE).isEqualTo("value");
		}
		finally {
			Schedulers.resetOnScheduleHook("broken");
		}
		assertThat(this.events).containsExactly("waits", "acquire", "body", "release");
	}

	@Test
	void eachSubscriptionTakesTheLockForItself() {
		Mono<String> result = this.service.mono(() -> body("value"));
		assertThat(this.events).isEmpty();
		for (int i = 0; i < 2; i++) {
			StepVerifier.create(result).expectNext("value").verifyComplete();
		}
		assertThat(this.events).containsExactly("acquire", "body", "release", "acquire", "body", "release");
	}

	@Test
	void barePublisherAndThatOfTheJdkHaveManyElements() {
		StepVerifier.create(this.service.publisher()).expectNext(1, 2, 3).verifyComplete();
		StepVerifier.create(JdkFlowAdapter.flowPublisherToFlux(this.service.ofTheJdk()))
			.expectNext(1, 2, 3)
			.verifyComplete();
		assertThat(this.events).containsExactly("acquire", "release", "acquire", "release");
	}

	@Test
	void failureOfTheKeyIsASignal() {
		Mono<String> result = this.service.keyed(null);
		StepVerifier.create(result)
			.verifyErrorSatisfies((thrown) -> assertThat(thrown).isInstanceOf(IllegalArgumentException.class)
				.hasMessageContaining("key = \"#{#text}\", of which #text is null"));
		assertThat(this.events).isEmpty();
	}

	@Test
	void keyIsThatOfTheCall() {
		StringBuilder key = new StringBuilder("a");
		Mono<String> result = this.service.keyed(key);
		key.append("b");
		StepVerifier.create(result).expectNext("done").verifyComplete();
		assertThat(this.lock.keys()).containsExactly("a");
	}

	@Test
	void chainThatHoldsTheLockTellsIt() {
		StepVerifier
			.create(this.service.mono(() -> Mono
				.deferContextual((view) -> Mono.just(String.valueOf(LockContext.current(view).orElseThrow().keys())))))
			.expectNext("[k]")
			.verifyComplete();
	}

	@Test
	void methodItselfIsInItsLock() {
		StepVerifier.create(this.service.mono(() -> {
			assertThat(LockHandle.current()).isPresent();
			return body("value");
		})).expectNext("value").verifyComplete();
		assertThat(LockHandle.current()).isEmpty();
	}

	static class Service extends ReactiveFixture.Service {

		@DistributedLock(key = "'k'")
		public Publisher<Integer> publisher() {
			return Flux.just(1, 2, 3);
		}

		@DistributedLock(key = "'k'")
		public Flow.Publisher<Integer> ofTheJdk() {
			return JdkFlowAdapter.publisherToFlowPublisher(Flux.just(1, 2, 3));
		}

		@DistributedLock(key = "#{#text}")
		public Mono<String> keyed(CharSequence text) {
			return Mono.just("done");
		}

	}

}
