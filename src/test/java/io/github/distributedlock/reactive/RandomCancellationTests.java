package io.github.distributedlock.reactive;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
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

import io.github.distributedlock.LockException;
import io.github.distributedlock.annotation.DistributedLock;
import io.github.distributedlock.autoconfigure.Contexts;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RandomFaults;
import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Subscriptions that are cancelled at any moment leave no lock behind, and let no two
 * methods in at once. With the random numbers of {@code -Dlock.cancellations.seed}.
 */
class RandomCancellationTests {

	private static final int SUBSCRIPTIONS = 2000;

	private static final int FAULTY_SUBSCRIPTIONS = 10_000;

	/**
	 * The number of subscriptions that are made at once.
	 */
	private static final int CROWD = 500;

	private static final int KEYS = 20;

	private static final Duration COMMAND_TIMEOUT = Duration.ofMillis(300);

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	private final long seed = Long.getLong("lock.cancellations.seed", System.nanoTime());

	private final Random random = new Random(this.seed);

	private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(3);

	private final Map<String, AtomicInteger> inside = new ConcurrentHashMap<>();

	private final List<String> violations = new CopyOnWriteArrayList<>();

	private final Map<String, Integer> ends = new ConcurrentHashMap<>();

	@AfterEach
	void stop() {
		this.threads.shutdownNow();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void noLockIsLeftOver(boolean inCode) {
		Contexts.withRedis(redis.port())
			.withBean(Stock.class, () -> new Stock(this.inside, this.violations))
			.run((context) -> {
				Stock stock = inCode
						? new StockInCode(context.getBean(ReactiveDistributedLock.class), this.inside, this.violations)
						: context.getBean(Stock.class);
				CountDownLatch ended = new CountDownLatch(SUBSCRIPTIONS);
				for (int i = 0; i < SUBSCRIPTIONS; i++) {
					boolean endless = i % 5 == 0;
					Disposable subscription = stock.take("k" + i % 3, endless)
						.doFinally((signal) -> ended.countDown())
						.subscribe();
					if (endless || this.random.nextInt(3) == 0) {
						cancelSoon(subscription, 3_000);
					}
				}
				Patience.await(ended, "the end of all subscriptions");
				assertThat(this.violations).as("seed %d", this.seed).isEmpty();
				nothingIsLeftOver(context);
			});
	}

	/**
	 * The store is slow, fails, or answers too late. In the end no answer comes.
	 */
	@ParameterizedTest
	@EnumSource(Client.class)
	@Tag("faults")
	void noLockIsLeftOverByAStoreThatFails(Client client) {
		Relay relay = redis.closing(new Relay(redis.port()));
		relay.add(new RandomFaults(this.random, COMMAND_TIMEOUT));
		ApplicationContextRunner application = Contexts.withRedis()
			.withBean(Stock.class, () -> new Stock(this.inside, this.violations))
			.withPropertyValues("spring.data.redis.port=" + relay.port(),
					"spring.data.redis.client-type=" + client.name().toLowerCase(Locale.ROOT),
					"distributed-lock.redis.command-timeout=" + COMMAND_TIMEOUT,
					"distributed-lock.watchdog-timeout=5s");
		application.run((one) -> application.run((two) -> {
			Stock[] stocks = { one.getBean(Stock.class), two.getBean(Stock.class) };
			for (int made = 0; made < FAULTY_SUBSCRIPTIONS; made += CROWD) {
				subscribeCrowd(stocks);
			}
			relay.removeRules();
			nothingIsLeftOver(one, two);
			relay.add((request, connection) -> {
				connection.close();
				return true;
			});
			subscribeCrowd(stocks);
			relay.removeRules();
			assertThat(this.ends.keySet()).as("ends of subscriptions").contains("ON_COMPLETE", "CANCEL", "ON_ERROR");
			assertThat(this.violations).as("seed %d", this.seed).isEmpty();
			nothingIsLeftOver(one, two);
			for (int key = 0; key < KEYS; key++) {
				assertThat(stocks[key % 2].take("k" + key, false).block(Patience.PATIENCE)).isEqualTo("k" + key);
			}
		}));
	}

	/**
	 * Makes subscriptions, and waits until all have ended.
	 */
	private void subscribeCrowd(Stock[] stocks) {
		CountDownLatch ended = new CountDownLatch(CROWD);
		for (int i = 0; i < CROWD; i++) {
			subscribe(stocks[i % 2], ended);
		}
		Patience.await(ended, "the end of all subscriptions (seed " + this.seed + ")");
	}

	private void subscribe(Stock stock, CountDownLatch ended) {
		String key = "k" + this.random.nextInt(KEYS);
		boolean endless = this.random.nextInt(5) == 0;
		Mono<String> result = this.random.nextBoolean() ? stock.takeSoon(key, endless) : stock.takeInTurn(key, endless);
		Disposable subscription = result.doFinally((signal) -> {
			this.ends.merge(signal.name(), 1, Integer::sum);
			ended.countDown();
		}).subscribe((value) -> {
		}, (failure) -> {
			if (!(failure instanceof LockException)) {
				this.violations.add(failure.toString());
			}
		});
		int when = this.random.nextInt(8);
		if (when == 0) {
			subscription.dispose();
		}
		else if (endless || when < 4) {
			cancelSoon(subscription, 50_000);
		}
	}

	private void cancelSoon(Disposable subscription, int latestMicros) {
		this.threads.schedule(subscription::dispose, this.random.nextInt(latestMicros), TimeUnit.MICROSECONDS);
	}

	private void nothingIsLeftOver(ApplicationContext... contexts) {
		await("nothing is left over, seed " + this.seed).untilAsserted(() -> {
			for (ApplicationContext context : contexts) {
				LockEngine engine = context.getBean(LockEngine.class);
				assertThat(engine.requestsWaiting()).isZero();
				assertThat(engine.keysHeld()).isZero();
			}
			assertThat(redis.admin().keys("lock*")).isEmpty();
		});
	}

	/**
	 * The time from the call of the method until the result has ended or was cancelled.
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

		private final Map<String, AtomicInteger> inside;

		private final List<String> violations;

		Stock(Map<String, AtomicInteger> inside, List<String> violations) {
			this.inside = inside;
			this.violations = violations;
		}

		@DistributedLock(key = "#{#key}", waitTime = "60s")
		public Mono<String> take(String key, boolean endless) {
			return visit(key, endless);
		}

		@DistributedLock(key = "#{#key}", waitTime = "500ms")
		public Mono<String> takeSoon(String key, boolean endless) {
			return visit(key, endless);
		}

		@DistributedLock(key = "#{#key}", waitTime = "1s", fair = true)
		public Mono<String> takeInTurn(String key, boolean endless) {
			return visit(key, endless);
		}

		Mono<String> visit(String key, boolean endless) {
			Visit visit = new Visit(this.inside.computeIfAbsent(key, (first) -> new AtomicInteger()));
			if (visit.enter() > 1) {
				this.violations.add(key);
			}
			Mono<String> result = endless ? Mono.never() : Mono.just(key).delayElement(Duration.ofMillis(1));
			return result.doOnTerminate(visit::leave).doOnCancel(visit::leave);
		}

	}

	/**
	 * Locks in code, as the annotation says.
	 */
	private static final class StockInCode extends Stock {

		private final ReactiveDistributedLock locks;

		private StockInCode(ReactiveDistributedLock locks, Map<String, AtomicInteger> inside, List<String> violations) {
			super(inside, violations);
			this.locks = locks;
		}

		@Override
		public Mono<String> take(String key, boolean endless) {
			return this.locks.execute(key, Duration.ofMinutes(1), Mono.defer(() -> visit(key, endless)));
		}

	}

}
