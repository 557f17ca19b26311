package io.github.distributedlock.aop;

import java.time.Duration;
import java.util.function.Supplier;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.OnLost;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.reactive.ReactiveDistributedLock;
import org.junit.jupiter.api.Nested;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The tests of annotated methods, with services that do the same in code.
 */
class ReactiveClientTests {

	@Nested
	class Cancellation extends ReactiveCancellationTests {

		@Override
		Service service(Service advised, DistributedLock lock) {
			return new CancelledService(lock);
		}

	}

	@Nested
	class HostileCode extends HostileCodeTests {

		@Override
		Service service(Service advised, RecordingLock lock) {
			return new HostileService(advised, lock);
		}

	}

	@Nested
	class Reentry extends ReactiveReentryTests {

		@Override
		Service service(Service advised, LockEngine lock) {
			return new ReentrantService(advised, lock);
		}

		/**
		 * In code there is no method whose call is in the lock.
		 */
		@Override
		void blockingMethodReentersInTheMethodItself() {
		}

	}

	private static final class CancelledService extends ReactiveFixture.Service {

		private final ReactiveDistributedLock locks;

		private CancelledService(DistributedLock lock) {
			this.locks = new ReactiveDistributedLock(lock);
		}

		@Override
		public Mono<String> mono(Supplier<Mono<String>> body) {
			return this.locks.execute("k", Mono.defer(body));
		}

		@Override
		public Flux<String> flux(Supplier<Flux<String>> body) {
			return this.locks.execute("k", Flux.defer(body));
		}

	}

	private static final class HostileService extends HostileCodeTests.Service {

		private final HostileCodeTests.Service advised;

		private final ReactiveDistributedLock locks;

		private HostileService(HostileCodeTests.Service advised, DistributedLock lock) {
			this.advised = advised;
			this.locks = new ReactiveDistributedLock(lock).onLost(OnLost.INTERRUPT);
		}

		@Override
		public void run() {
			this.advised.run();
		}

		@Override
		public Mono<Object> orElse(Throwable thrown) {
			return this.locks.tryExecute("k", Mono.empty(), Mono.from((subscriber) -> HostileCodeTests.sneak(thrown)));
		}

		@Override
		public Mono<Object> mono(Publisher<?> stream) {
			return this.locks.execute("k", Mono.fromDirect(stream));
		}

		@Override
		public Flux<Object> flux(Publisher<?> stream) {
			return this.locks.execute("k", Flux.from(stream));
		}

	}

	private static final class ReentrantService extends ReactiveReentryTests.Service {

		private static final Duration LONG = Duration.ofMinutes(1);

		private final ReactiveReentryTests.Service advised;

		private final ReactiveDistributedLock locks;

		private ReentrantService(ReactiveReentryTests.Service advised, DistributedLock lock) {
			this.advised = advised;
			this.locks = new ReactiveDistributedLock(lock);
		}

		@Override
		public <T> Mono<T> mono(Supplier<Mono<T>> body) {
			return this.locks.execute("k", LONG, Mono.defer(body));
		}

		@Override
		public <T> Mono<T> impatient(Supplier<Mono<T>> body) {
			return this.locks.execute("k", Duration.ZERO, Mono.defer(body));
		}

		@Override
		public <T> Flux<T> flux(Supplier<Flux<T>> body) {
			return this.locks.execute("k", LONG, Flux.defer(body));
		}

		@Override
		public <T> Mono<T> both(Supplier<Mono<T>> body) {
			return this.locks.execute(LockRequest.of("a", "k", "z").waitTime(LONG), Mono.defer(body));
		}

		@Override
		public <T> Mono<T> shared(Supplier<Mono<T>> body) {
			return this.locks.execute(LockRequest.of("k").mode(LockMode.SHARED), Mono.defer(body));
		}

		@Override
		public String blocking() {
			return this.advised.blocking();
		}

		@Override
		public String tryBlocking() {
			return this.advised.tryBlocking();
		}

	}

}
