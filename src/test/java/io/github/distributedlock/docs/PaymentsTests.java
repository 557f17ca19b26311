package io.github.distributedlock.docs;

import java.util.function.Predicate;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An order is charged once, by two applications.
 */
class PaymentsTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	@Test
	void chargedOnce() {
		try (ConfigurableApplicationContext one = DocsApplication.start(redis.server());
				ConfigurableApplicationContext two = DocsApplication.start(redis.server())) {
			Payments here = one.getBean(Payments.class);
			Payments there = two.getBean(Payments.class);
			StepVerifier
				.create(Flux.range(0, 20)
					.flatMap((i) -> ((i % 2 == 0) ? here : there).pay("7")
						.onErrorReturn(LockNotAcquiredException.class, "busy") // On a
																				// slow
																				// machine.
						.subscribeOn(Schedulers.boundedElastic()), 20)
					.distinct()
					.filter(Predicate.not("busy"::equals)))
				.expectNext("paid 7")
				.verifyComplete();
			assertThat(redis.admin().lrange("charged", 0, -1)).containsExactly("7");
			Refunds refunds = one.getBean(Refunds.class);
			StepVerifier.create(refunds.refund("7", Mono.just("done"))).expectNext("done").verifyComplete();
			StepVerifier.create(refunds.refundAll(refunds.refundAllNow(Mono.just("all"))))
				.expectNext("all")
				.verifyComplete();
			try (LockHandle busy = two.getBean(DistributedLock.class).acquire("refunds")) {
				StepVerifier.create(refunds.refundAllNow(Mono.just("never")))
					.expectNext("refunds are under way")
					.verifyComplete();
			}
		}
	}

}
