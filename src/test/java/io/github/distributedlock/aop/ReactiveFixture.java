package io.github.distributedlock.aop;

import java.util.function.Supplier;

import io.github.distributedlock.annotation.DistributedLock;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A service whose results are subscribed to, behind the advisor, and a lock that records.
 *
 * @param <S> the service
 */
abstract class ReactiveFixture<S extends ReactiveFixture.Service> extends AdvisedFixture<S> {

	ReactiveFixture(Class<S> type) {
		super(type);
	}

	Mono<String> body(String value) {
		return Mono.fromSupplier(() -> {
			this.events.add("body");
			return value;
		});
	}

	static class Service {

		@DistributedLock(key = "'k'")
		public Mono<String> mono(Supplier<Mono<String>> body) {
			return body.get();
		}

		@DistributedLock(key = "'k'")
		public Flux<String> flux(Supplier<Flux<String>> body) {
			return body.get();
		}

	}

}
