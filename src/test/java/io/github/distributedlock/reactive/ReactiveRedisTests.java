package io.github.distributedlock.reactive;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;
import io.github.distributedlock.autoconfigure.Contexts;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reactive methods whose locks are in a real Redis.
 */
class ReactiveRedisTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	private static final String KEY = "lock:{stock}";

	private final Scheduler single = Schedulers.newSingle("one-thread");

	private final ApplicationContextRunner application = Contexts.withRedis(redis.port()).withBean(Stock.class);

	@AfterEach
	void stop() {
		this.single.dispose();
	}

	@ParameterizedTest
	@EnumSource
	void heldFromBeforeTheBodyUntilTheValue(Way way) {
		this.application.run((context) -> {
			Stock stock = way.stock(context);
			Mono<Boolean> held = stock.mono(() -> Mono.fromSupplier(() -> redis.admin().exists(KEY)));
			assertThat(redis.admin().exists(KEY)).as("before a subscription").isFalse();
			StepVerifier.create(held).assertNext((inside) -> {
				assertThat(inside).isTrue();
				assertThat(redis.admin().exists(KEY)).as("when the value is passed on").isFalse();
			}).verifyComplete();
		});
	}

	@ParameterizedTest
	@EnumSource
	void elementsArePassedOnAtOnceAndTheCompletionAfterTheRelease(Way way) {
		this.application.run((context) -> {
			Stock stock = way.stock(context);
			Sinks.Many<String> source = Sinks.many().unicast().onBackpressureBuffer();
			source.tryEmitNext("a");
			StepVerifier.create(stock.flux(source::asFlux))
				.expectNext("a")
				.then(() -> assertThat(redis.admin().exists(KEY)).isTrue())
				.then(() -> source.tryEmitNext("b"))
				.expectNext("b")
				.then(source::tryEmitComplete)
				.verifyComplete();
			assertThat(redis.admin().exists(KEY)).isFalse();
		});
	}

	/**
	 * A lock that goes by the thread lets both in.
	 */
	@ParameterizedTest
	@EnumSource
	void chainsOnOneThreadExcludeEachOther(Way way) {
		this.application.run((context) -> {
			Stock stock = way.stock(context);
			AtomicInteger inside = new AtomicInteger();
			List<Integer> seen = new CopyOnWriteArrayList<>();
			Mono<Integer> step = stock.mono(() -> Mono.fromSupplier(inside::incrementAndGet)
				.doOnNext(seen::add)
				.delayElement(Duration.ofMillis(1), this.single)
				.doOnNext((number) -> inside.decrementAndGet()));
			StepVerifier.create(Flux.range(0, 50).flatMap((i) -> step.subscribeOn(this.single), 50).then())
				.verifyComplete();
			assertThat(seen).hasSize(50).containsOnly(1);
		});
	}

	/**
	 * The way in which a method locks.
	 */
	enum Way {

		ANNOTATION, CODE;

		Stock stock(ApplicationContext context) {
			return (this == ANNOTATION) ? context.getBean(Stock.class)
					: new StockInCode(context.getBean(ReactiveDistributedLock.class));
		}

	}

	/**
	 * Locks in code, as the annotations say.
	 */
	static final class StockInCode extends Stock {

		private static final LockRequest REQUEST = LockRequest.of("stock").waitTime(Duration.ofMinutes(1));

		private final ReactiveDistributedLock locks;

		StockInCode(ReactiveDistributedLock locks) {
			this.locks = locks;
		}

		@Override
		public <T> Mono<T> mono(Supplier<Mono<T>> body) {
			return this.locks.execute(REQUEST, Mono.defer(body));
		}

		@Override
		public <T> Flux<T> flux(Supplier<Flux<T>> body) {
			return this.locks.execute(REQUEST, Flux.defer(body));
		}

		@Override
		public <T> Mono<T> inTurn(Supplier<Mono<T>> body) {
			return this.locks.execute(REQUEST.fair(true), Mono.defer(body));
		}

		@Override
		public <T> Mono<T> ifFree(Supplier<Mono<T>> body) {
			return this.locks.tryExecute(LockRequest.of("shelf", "stock"), Mono.defer(body), Mono.empty());
		}

	}

	static class Stock {

		@DistributedLock(key = "'stock'", waitTime = "60s")
		public <T> Mono<T> mono(Supplier<Mono<T>> body) {
			return body.get();
		}

		@DistributedLock(key = "'stock'", waitTime = "60s")
		public <T> Flux<T> flux(Supplier<Flux<T>> body) {
			return body.get();
		}

		@DistributedLock(key = "'stock'", fair = true, waitTime = "60s")
		public <T> Mono<T> inTurn(Supplier<Mono<T>> body) {
			return body.get();
		}

		@DistributedLock(key = { "'shelf'", "'stock'" }, ifBusy = IfBusy.SKIP)
		public <T> Mono<T> ifFree(Supplier<Mono<T>> body) {
			return body.get();
		}

	}

}
