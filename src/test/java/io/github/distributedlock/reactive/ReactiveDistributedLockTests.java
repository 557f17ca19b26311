package io.github.distributedlock.reactive;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.ForwardingDistributedLock;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.OnLost;
import io.github.distributedlock.engine.EngineFixture;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import reactor.test.publisher.TestPublisher;
import reactor.util.context.ContextView;

import org.springframework.http.ResponseEntity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.awaitility.Awaitility.await;

/**
 * Locks around publishers, on the fake clock.
 */
class ReactiveDistributedLockTests extends EngineFixture {

	private final ReactiveDistributedLock locks = new ReactiveDistributedLock(this.engine);

	private final TestPublisher<String> source = TestPublisher.create();

	/**
	 * The handle that the source finds in its context.
	 */
	private final AtomicReference<LockHandle> inside = new AtomicReference<>();

	@Test
	void subscribesWhenTheLockIsThereAndReleasesBeforeTheValue() {
		LockHandle other = this.engine.acquire("k");
		CompletableFuture<String> value = this.locks.execute("k", watched()).toFuture();
		act();
		this.source.assertWasNotSubscribed();
		other.close();
		act();
		untilSubscribed();
		assertThat(this.inside.get().isHeld()).isTrue();
		this.source.emit("value");
		assertThat(Patience.get(value, "the value")).isEqualTo("value");
		assertThat(this.inside.get().isClosed()).isTrue();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void heldForLongerThanTheLease() {
		CompletableFuture<String> value = subscribed(this.locks, "k");
		for (int i = 0; i < 10; i++) {
			this.time.advance(LEASE);
		}
		assertThat(this.inside.get().isHeld()).isTrue();
		assertThat(holderOf("k").owner()).isEqualTo(this.inside.get().owner());
		this.source.emit("value");
		assertThat(Patience.get(value, "the value")).isEqualTo("value");
		assertThat(holderOf("k")).isNull();
	}

	@ParameterizedTest
	@EnumSource(OnLost.class)
	void lossOfTheKey(OnLost onLost) {
		CompletableFuture<String> value = subscribed(this.locks.onLost(onLost), "k");
		assertThat(this.store.release("k", this.inside.get().owner())).isTrue();
		this.time.advance(LEASE);
		assertThat(this.inside.get().isHeld()).isFalse();
		if (onLost == OnLost.INTERRUPT) {
			await().untilAsserted(this.source::assertCancelled);
		}
		else {
			this.source.emit("value");
		}
		if (onLost == OnLost.REPORT) {
			assertThat(Patience.get(value, "the value")).isEqualTo("value");
		}
		else {
			assertThat(value).failsWithin(Patience.PATIENCE)
				.withThrowableThat()
				.withCauseInstanceOf(LockLostException.class);
		}
		await().untilAsserted(() -> assertThat(this.inside.get().isClosed()).isTrue());
	}

	@Test
	void cancellationWithdrawsTheRequest() {
		ownedElsewhere("k", LEASE);
		Disposable subscription = this.locks.execute("k", watched()).subscribe();
		act();
		assertThat(this.engine.requestsWaiting()).isOne();
		subscription.dispose();
		act();
		assertThat(this.engine.requestsWaiting()).isZero();
		releasedElsewhere("k");
		act();
		this.source.assertWasNotSubscribed();
		assertThat(holderOf("k")).isNull();
	}

	/**
	 * Futures of decorators that do something with the answer, or that answer by another
	 * future.
	 */
	static Stream<UnaryOperator<CompletableFuture<LockHandle>>> decorators() {
		return Stream.of((answer) -> answer.whenComplete((handle, failure) -> {
		}), (answer) -> answer.thenApply((handle) -> handle).exceptionally((failure) -> null),
				(answer) -> CompletableFuture.supplyAsync(() -> null, Runnable::run).thenCompose((any) -> answer));
	}

	@ParameterizedTest
	@MethodSource("decorators")
	void cancellationLeavesNothingBehindADecorator(UnaryOperator<CompletableFuture<LockHandle>> decorator) {
		ownedElsewhere("k", LEASE);
		DistributedLock decorated = decorated(decorator);
		Disposable subscription = new ReactiveDistributedLock(decorated).execute("k", watched()).subscribe();
		CompletableFuture<String> stage = decorated.executeAsync("k", () -> Mono.just("never").toFuture());
		act();
		subscription.dispose();
		stage.cancel(false);
		act();
		releasedElsewhere("k");
		act();
		await().untilAsserted(() -> {
			act();
			assertThat(hasQueues()).isFalse();
			assertThat(holderOf("k")).isNull();
		});
		this.source.assertWasNotSubscribed();
	}

	@Test
	void cancellationWithdrawsTheRequestBehindADecorator() {
		ownedElsewhere("k", LEASE);
		DistributedLock decorated = decorated((answer) -> answer.whenComplete((handle, failure) -> {
		}));
		Disposable subscription = new ReactiveDistributedLock(decorated).execute("k", watched()).subscribe();
		CompletableFuture<String> stage = decorated.executeAsync("k", () -> Mono.just("never").toFuture());
		act();
		assertThat(this.engine.requestsWaiting()).isEqualTo(2);
		subscription.dispose();
		stage.cancel(false);
		act();
		assertThat(this.engine.requestsWaiting()).isZero();
	}

	private DistributedLock decorated(UnaryOperator<CompletableFuture<LockHandle>> decorator) {
		return new ForwardingDistributedLock(this.engine) {

			@Override
			public CompletableFuture<LockHandle> acquireAsync(LockRequest request) {
				return decorator.apply(super.acquireAsync(request));
			}

		};
	}

	/**
	 * A mock gives no answer.
	 */
	@Test
	void lockThatGivesNoAnswerIsAnError() {
		DistributedLock silent = decorated((answer) -> CompletableFuture.completedFuture(null));
		StepVerifier.create(new ReactiveDistributedLock(silent).execute("k", watched()))
			.verifyErrorSatisfies((failure) -> assertThat(failure).isInstanceOf(IllegalStateException.class)
				.hasMessageContaining("gave no handle for lock [k]"));
		StepVerifier.create(new ReactiveDistributedLock(decorated((answer) -> null)).execute("k", watched()))
			.verifyError(IllegalStateException.class);
		assertThat(silent.executeAsync("k", () -> Mono.just("never").toFuture())).failsWithin(Patience.PATIENCE)
			.withThrowableThat()
			.withCauseInstanceOf(IllegalStateException.class);
		this.source.assertWasNotSubscribed();
	}

	@Test
	void reactiveRequestsReenterAndOthersDoNot() {
		assertThat(inside(this.locks.tryExecute("k", Mono.just("re-entered"), Mono.just("busy"))))
			.isEqualTo("re-entered");
		assertThat(inside(Mono.fromCallable(() -> this.engine.tryAcquire("k").map(LockHandle::keys))))
			.as("a blocking request")
			.isEqualTo(Optional.empty());
		assertThat(inside(Mono.fromFuture(() -> this.engine.tryAcquireAsync("k")).map((found) -> found.isPresent())))
			.as("a request in code")
			.isEqualTo(false);
	}

	private Object inside(Mono<?> source) {
		CompletableFuture<Object> result = this.locks.execute("k", source.cast(Object.class)).toFuture();
		await().untilAsserted(() -> {
			act();
			assertThat(result).isDone();
		});
		return result.join();
	}

	static Stream<Arguments> valuesThatOutliveTheLock() {
		return Stream.of(Arguments.of(Flux.just("row"), "a reactive stream"),
				Arguments.of(ResponseEntity.ok(Flux.just("row")), "a reactive stream"),
				Arguments.of(new CompletableFuture<>(), "a future"));
	}

	@ParameterizedTest
	@MethodSource
	void valuesThatOutliveTheLock(Object value, String kind) {
		CompletableFuture<Object> one = this.locks.execute("k", Mono.just(value)).toFuture();
		CompletableFuture<List<Object>> many = this.locks.execute("f", Flux.just(value)).collectList().toFuture();
		act();
		for (CompletableFuture<?> result : List.of(one, many)) {
			assertThat(result).failsWithin(Patience.PATIENCE)
				.withThrowableThat()
				.withCauseInstanceOf(IllegalStateException.class)
				.withMessageContaining("the source has emitted " + kind);
		}
		await().untilAsserted(() -> assertThat(hasQueues()).isFalse());
	}

	static Stream<LockRequest> waits() {
		return Stream.of(LockRequest.of("k").waitTime(Duration.ZERO), LockRequest.of("k"));
	}

	@ParameterizedTest
	@MethodSource("waits")
	void busyKeyIsAnErrorAfterTheWaitTime(LockRequest request) {
		ownedElsewhere("k", LEASE);
		CompletableFuture<List<String>> elements = this.locks.execute(request, Flux.just("never"))
			.collectList()
			.toFuture();
		this.time.advance(Objects.requireNonNullElse(request.waitTime(), Duration.ofSeconds(5)));
		assertThat(elements).failsWithin(Patience.PATIENCE)
			.withThrowableThat()
			.withCauseInstanceOf(LockNotAcquiredException.class);
	}

	/**
	 * In place of the source, without the lock and without a wait.
	 */
	@Test
	void busyKeyIsAnotherSource() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<String> other = this.locks
			.tryExecute("k", Mono.just("never"),
					Mono.deferContextual((context) -> Mono.just("busy" + LockContext.current(context))))
			.toFuture();
		CompletableFuture<List<String>> none = this.locks.tryExecute("k", Flux.just("never"), Flux.empty())
			.collectList()
			.toFuture();
		act();
		assertThat(Patience.get(other, "the other source")).isEqualTo("busyOptional.empty");
		assertThat(Patience.get(none, "the end")).isEmpty();
		CompletableFuture<String> late = this.locks
			.tryExecute("k", Duration.ofSeconds(1), Mono.just("late"), Mono.just("busy"))
			.toFuture();
		act();
		releasedElsewhere("k");
		act();
		assertThat(Patience.get(late, "the value")).isEqualTo("late");
	}

	@Test
	void failureOfTheStoreIsAnErrorAndNotABusyKey() {
		this.backend.next("acquire", (step) -> {
			throw LockBackendException.of("down").build();
		});
		CompletableFuture<String> value = this.locks.tryExecute("k", Mono.just("never"), Mono.just("busy")).toFuture();
		act();
		assertThat(value).failsWithin(Patience.PATIENCE)
			.withThrowableThat()
			.withCauseInstanceOf(LockBackendException.class);
	}

	@Test
	void stopWaitsForTheSourceUnlessTheRequestSaysOtherwise() {
		AtomicReference<LockRequest> seen = new AtomicReference<>();
		ReactiveDistributedLock seeing = new ReactiveDistributedLock(new ForwardingDistributedLock(this.engine) {

			@Override
			public CompletableFuture<LockHandle> acquireAsync(LockRequest request) {
				seen.set(request);
				return super.acquireAsync(request);
			}

		});
		seeing.execute("k", Mono.empty()).subscribe();
		assertThat(seen.get().awaitedOnStop()).isTrue();
		seeing.execute(LockRequest.of("k").awaitedOnStop(false), Mono.empty()).subscribe();
		assertThat(seen.get().awaitedOnStop()).isFalse();
		act();
	}

	@Test
	void argumentsAreRequiredAtOnce() {
		assertThatNullPointerException().isThrownBy(() -> this.locks.execute("k", (Mono<String>) null))
			.withMessage("source");
		assertThatNullPointerException().isThrownBy(() -> this.locks.execute((LockRequest) null, Mono.empty()))
			.withMessage("request");
		for (String key : Arrays.asList(" ", null)) {
			assertThatIllegalArgumentException().isThrownBy(() -> this.locks.execute(key, Mono.empty()))
				.withMessageContaining("Lock key 0");
		}
		assertThatNullPointerException().isThrownBy(() -> this.locks.tryExecute("k", Flux.empty(), null));
	}

	@Test
	void requestThatTheLockRefusesIsAnErrorSignal() {
		CompletableFuture<String> value = this.locks
			.execute(LockRequest.of("k").fenced(true).permits(2), Mono.just("never"))
			.toFuture();
		act();
		assertThat(value).failsWithin(Patience.PATIENCE)
			.withThrowableThat()
			.withCauseInstanceOf(IllegalArgumentException.class);
	}

	private CompletableFuture<String> subscribed(ReactiveDistributedLock locks, String key) {
		CompletableFuture<String> value = locks.execute(key, watched()).toFuture();
		act();
		untilSubscribed();
		return value;
	}

	private Mono<String> watched() {
		return this.source.mono()
			.transformDeferredContextual((mono, context) -> Mono.from(watch(mono.flux(), context)));
	}

	private Flux<String> watch(Flux<String> flux, ContextView context) {
		this.inside.set(LockContext.current(context).orElseThrow());
		return flux;
	}

	private void untilSubscribed() {
		await().untilAsserted(this.source::assertSubscribers);
	}

}
