package io.github.distributedlock.reactive;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.autoconfigure.Contexts;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Subscriptions that are cancelled at any moment leave no lock behind, and let no two
 * methods in at once.
 */
class RandomCancellationTests {

	private static final int SUBSCRIPTIONS = 2000;

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(3);

	@AfterEach
	void stop() {
		this.threads.shutdownNow();
	}

	@Test
	void noLockIsLeftOver() {
		Random random = new Random(13);
		Contexts.withRedis()
			.withBean(Stock.class)
			.withPropertyValues("spring.data.redis.port=" + redis.port())
			.run((context) -> {
				Stock stock = context.getBean(Stock.class);
				CountDownLatch ended = new CountDownLatch(SUBSCRIPTIONS);
				for (int i = 0; i < SUBSCRIPTIONS; i++) {
					boolean endless = i % 5 == 0;
					Disposable subscription = stock.take("k" + i % 3, endless)
						.doFinally((signal) -> ended.countDown())
						.subscribe();
					if (endless || random.nextInt(3) == 0) {
						this.threads.schedule(subscription::dispose, random.nextInt(3_000), TimeUnit.MICROSECONDS);
					}
				}
				Patience.await(ended, "the end of all subscriptions");
				assertThat(stock.violations()).isEmpty();
				LockEngine engine = context.getBean(LockEngine.class);
				await().untilAsserted(() -> {
					assertThat(engine.requestsWaiting()).isZero();
					assertThat(redis.admin().keys("lock:*")).isEmpty();
				});
			});
	}

	/**
	 * From the call of the method until its result has ended, or was cancelled.
	 */
	private static final class Visit {

		private final AtomicInteger inside;

		private final AtomicBoolean over = new AtomicBoolean();

		private Visit(AtomicInteger inside) {
			this.inside = inside;
		}

		int enter() {
			return this.inside.incrementAndGet();
		}

		void leave() {
			if (!this.over.getAndSet(true)) {
				this.inside.decrementAndGet();
			}
		}

	}

	static class Stock {

		private final Map<String, AtomicInteger> inside = new ConcurrentHashMap<>();

		private final List<String> violations = new CopyOnWriteArrayList<>();

		// Beans have a proxy, whose fields are empty.
		List<String> violations() {
			return this.violations;
		}

		@DistributedLock(key = "#{#key}", waitTime = "60s")
		public Mono<String> take(String key, boolean endless) {
			Visit visit = new Visit(this.inside.computeIfAbsent(key, (first) -> new AtomicInteger()));
			if (visit.enter() > 1) {
				this.violations.add(key);
			}
			Mono<String> result = endless ? Mono.never() : Mono.just(key).delayElement(Duration.ofMillis(1));
			return result.doOnTerminate(visit::leave).doOnCancel(visit::leave);
		}

	}

}
