package io.github.distributedlock.aop;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockUpgradeException;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.annotation.IfBusy;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Patience;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.util.context.Context;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A chain re-enters the locks that the chain holds, on any thread. Nothing else does.
 */
class ReactiveReentryTests {

	private final Scheduler single = Schedulers.newSingle("one-thread");

	private AdvisorContext context;

	private Service service;

	/**
	 * Returns the service to test: the annotated bean, unless a subclass locks in code.
	 */
	Service service(Service advised, LockEngine lock) {
		return advised;
	}

	@BeforeEach
	void start() {
		this.context = AdvisorContext.of(Service.class, Locks.class);
		this.service = service(this.context.get(Service.class), this.context.get(LockEngine.class));
	}

	@AfterEach
	void stop() {
		Hooks.disableAutomaticContextPropagation();
		this.single.dispose();
		this.context.close();
	}

	@Test
	void chainReentersOnAnotherThread() {
		verify(this.service
			.mono(() -> Mono.delay(Duration.ofMillis(1))
				.then(this.service.mono(() -> this.service.mono(() -> Mono.just("inside")))))
			.subscribeOn(this.single)).expectNext("inside").verifyComplete();
	}

	@Test
	void lockIsHeldUntilTheOuterSubscriptionEnds() {
		verify(this.service.mono(() -> this.service.mono(() -> Mono.just("inner"))
			.then(this.service.impatient(() -> Mono.just("again")))
			.flatMap((value) -> this.service.impatient(() -> Mono.just("outside"))
				.contextWrite((inherited) -> Context.empty())
				.onErrorResume(LockNotAcquiredException.class, (busy) -> Mono.just("still held")))))
			.expectNextCount(1)
			.verifyComplete();
	}

	@Test
	void keysThatAreHeldInPart() {
		verify(this.service.mono(() -> this.service.both(() -> Mono.just("both")))).expectNext("both").verifyComplete();
	}

	@Test
	void sharedLockIsNotMadeExclusive() {
		verify(this.service.shared(() -> this.service.mono(() -> Mono.just("never"))))
			.verifyErrorSatisfies((thrown) -> assertThat(thrown).isInstanceOf(LockUpgradeException.class)
				.hasMessageContaining("but this reactive chain holds it as SHARED"));
	}

	/**
	 * The two are on one thread, and the second one begins while the first is inside.
	 */
	@Test
	void otherChainOfTheSameThreadDoesNotReenter() {
		verify(this.service.mono(() -> {
			Mono<String> other = this.service.impatient(() -> Mono.just("let in"));
			return Mono.fromFuture(other.toFuture());
		}).subscribeOn(this.single)).verifyError(LockNotAcquiredException.class);
	}

	/**
	 * A chain must be able to end what the chain has begun.
	 */
	@Test
	void chainInALockIsServedDuringAStop() {
		verify(this.service.mono(() -> {
			this.context.get(LockEngine.class).stop();
			return Mono.delay(Duration.ofMillis(1)).then(this.service.both(() -> Mono.just("served")));
		})).expectNext("served").verifyComplete();
		verify(this.service.mono(() -> Mono.just("served"))).verifyError(LockBackendException.class);
	}

	@Test
	void blockingMethodReentersInTheMethodItself() {
		verify(this.service.mono(() -> Mono.just(this.service.blocking()))).expectNext("blocking").verifyComplete();
	}

	@Test
	void currentLockInsideOfOperators() {
		Hooks.enableAutomaticContextPropagation();
		verify(this.service.mono(() -> Mono.just("x")
			.publishOn(this.single)
			.map((value) -> LockHandle.current().orElseThrow().keys().toString()))).expectNext("[k]").verifyComplete();
		verify(Mono.fromCallable(() -> LockHandle.current().isPresent()).subscribeOn(this.single)).expectNext(false)
			.verifyComplete();
	}

	/**
	 * A task may get a copy of the chain's context, and run beside the chain.
	 */
	@Test
	void copyOfTheContextShowsTheLockAndDoesNotReenter() {
		Hooks.enableAutomaticContextPropagation();
		verify(this.service.mono(() -> Mono.just("x").publishOn(this.single).map((value) -> {
			ContextSnapshot copy = ContextSnapshotFactory.builder().build().captureAll();
			return Patience.get(this.context.get(Locks.class).submit(copy.wrap(() -> {
				assertThat(LockHandle.current()).isPresent();
				return this.service.tryBlocking() + ", "
						+ this.service.impatient(() -> Mono.just("let in"))
							.onErrorResume(LockNotAcquiredException.class, (busy) -> Mono.just("kept out"))
							.block(Patience.PATIENCE);
			})), "the task");
		}))).expectNext("null, kept out").verifyComplete();
	}

	/**
	 * Code in an operator opens such a scope to block on another chain.
	 */
	@Test
	void currentLockInsideOfANestedScopeIsTheInnermost() {
		Hooks.enableAutomaticContextPropagation();
		verify(this.service.mono(() -> Mono.just("x").publishOn(this.single).map((value) -> {
			ContextSnapshot snapshot = ContextSnapshotFactory.builder().build().captureAll();
			try (LockHandle own = this.context.get(LockEngine.class).acquire("own");
					ContextSnapshot.Scope nested = snapshot.setThreadLocals()) {
				return LockHandle.current().orElseThrow().keys().toString();
			}
		}))).expectNext("[own]").verifyComplete();
	}

	/**
	 * The operator runs downstream, in a chain that has not asked for the lock.
	 */
	@Test
	void whatHandlesElementsDoesNotReenter() {
		verify(this.service.flux(() -> Flux.just("a", "b"))
			.concatMap((value) -> this.service.impatient(() -> Mono.just("let in")))
			.then()).verifyError(LockNotAcquiredException.class);
	}

	/**
	 * Not even on the subscribing thread: other code that runs there may be of other
	 * chains.
	 */
	@Test
	void blockingMethodInAnOperatorDoesNotReenter() {
		verify(this.service.flux(() -> Flux.just("a").map((value) -> "inside: " + this.service.tryBlocking()))
			.map((value) -> value + ", downstream: " + this.service.tryBlocking())
			.single()).expectNext("inside: null, downstream: null").verifyComplete();
	}

	/**
	 * Each branch waits until the other branch is inside, too.
	 */
	@Test
	void branchesOfAChainReenterTogether() {
		AtomicInteger inside = new AtomicInteger();
		Sinks.Empty<String> both = Sinks.empty();
		verify(this.service.mono(() -> {
			Mono<String> branch = this.service.mono(() -> {
				if (inside.incrementAndGet() == 2) {
					both.tryEmitEmpty();
				}
				return both.asMono().thenReturn("in");
			});
			return Mono.zip(branch, branch, String::concat);
		})).expectNext("inin").verifyComplete();
	}

	private static <T> StepVerifier.FirstStep<T> verify(Mono<T> result) {
		return StepVerifier.create(result);
	}

	static class Service {

		@DistributedLock(key = "'k'", waitTime = "60s")
		public <T> Mono<T> mono(Supplier<Mono<T>> body) {
			return body.get();
		}

		@DistributedLock(key = "'k'", waitTime = "0")
		public <T> Mono<T> impatient(Supplier<Mono<T>> body) {
			return body.get();
		}

		@DistributedLock(key = "'k'", waitTime = "60s")
		public <T> Flux<T> flux(Supplier<Flux<T>> body) {
			return body.get();
		}

		@DistributedLock(key = { "'a'", "'k'", "'z'" }, waitTime = "60s")
		public <T> Mono<T> both(Supplier<Mono<T>> body) {
			return body.get();
		}

		@DistributedLock(key = "'k'", mode = LockMode.SHARED)
		public <T> Mono<T> shared(Supplier<Mono<T>> body) {
			return body.get();
		}

		@DistributedLock(key = "'k'", waitTime = "60s")
		public String blocking() {
			return "blocking";
		}

		@DistributedLock(key = "'k'", ifBusy = IfBusy.SKIP)
		public String tryBlocking() {
			return "let in";
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Locks {

		private final ExecutorService threads = Executors.newCachedThreadPool();

		<T> Future<T> submit(Callable<T> task) {
			return this.threads.submit(task);
		}

		@Bean(destroyMethod = "run")
		Runnable end() {
			return this.threads::shutdownNow;
		}

		@Bean
		@Primary
		LockEngine engine() {
			return LockEngine.builder(new InMemoryLockBackend()).build();
		}

	}

}
