package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.redis.RedisLockSettings;
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

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Requests that no thread waits for are cancelled before, while and after they acquire
 * their locks, on a server that is slow, fails, or answers too late: none is lost, and
 * nothing is left over. With the random numbers of {@code -Dlock.cancellations.seed}.
 */
@Tag("faults")
class CancellationFaultsTests {

	private static final int REQUESTS = 10_000;

	/**
	 * How many are made at once.
	 */
	private static final int CROWD = 500;

	private static final int KEYS = 20;

	private static final Duration LEASE = Duration.ofSeconds(2);

	private static final Duration COMMAND_TIMEOUT = Duration.ofMillis(300);

	private static final int LONGEST_WAIT_MILLIS = 1_000;

	private static final int LATEST_CANCELLATION_MILLIS = 50;

	@RegisterExtension
	private final TestRedis redis = new TestRedis();

	private final long seed = Long.getLong("lock.cancellations.seed", System.nanoTime());

	private final Random random = new Random(this.seed);

	private final ScheduledExecutorService cancelling = Executors.newScheduledThreadPool(2);

	private final AtomicInteger acquired = new AtomicInteger();

	private final AtomicInteger cancelled = new AtomicInteger();

	private final AtomicInteger failed = new AtomicInteger();

	@AfterEach
	void end() {
		this.cancelling.shutdown();
	}

	@ParameterizedTest
	@EnumSource(Client.class)
	void nothingIsLeftOver(Client client) {
		Relay relay = this.redis.closing(new Relay(this.redis.port()));
		List<LockEngine> engines = List.of(engine(client, relay), engine(client, relay));
		relay.add(new RandomFaults(this.random, COMMAND_TIMEOUT));
		for (int made = 0; made < REQUESTS; made += CROWD) {
			List<CompletableFuture<?>> ended = new ArrayList<>();
			for (int i = 0; i < CROWD; i++) {
				ended.add(request(engines.get(this.random.nextInt(engines.size()))));
			}
			ended.forEach((request) -> Patience.get(request, "the end of a request (seed " + this.seed + ")"));
		}
		relay.removeRules();
		for (LockEngine engine : engines) {
			await("nobody waits").until(() -> engine.requestsWaiting() == 0);
			await("nothing is held").until(() -> engine.keysHeld() == 0);
		}
		await("nothing is left in the store, seed " + this.seed)
			.until(() -> this.redis.admin().keys("lock*").isEmpty());
		assertThat(this.acquired).as("acquired").hasPositiveValue();
		assertThat(this.cancelled).as("cancelled").hasPositiveValue();
		assertThat(this.failed).as("failed or busy").hasPositiveValue();
		for (int key = 0; key < KEYS; key++) {
			for (LockEngine engine : engines) {
				Patience.get(engine.acquireAsync(LockRequest.of("k" + key)), "a key that is free").close();
			}
		}
	}

	private LockEngine engine(Client client, Relay relay) {
		RedisLockSettings settings = RedisLockSettings.defaults().commandTimeout(COMMAND_TIMEOUT);
		return this.redis.closing(LockEngine.builder(this.redis.backend(client.connectTo(relay.port()), settings))
			.watchdogTimeout(LEASE)
			.build());
	}

	/**
	 * Makes a request, and cancels it some time or never.
	 * @return a future that completes when the request has ended, and the lock is given
	 * back
	 */
	private CompletableFuture<?> request(LockEngine engine) {
		CompletableFuture<LockHandle> future = engine.acquireAsync(request());
		int when = this.random.nextInt(4);
		if (when == 0) {
			future.cancel(false);
		}
		else if (when < 3) {
			this.cancelling.schedule(() -> future.cancel(false),
					this.random.nextInt(LATEST_CANCELLATION_MILLIS * 1_000), TimeUnit.MICROSECONDS);
		}
		return future.handle(this::ended).thenCompose((released) -> released);
	}

	private LockRequest request() {
		Duration wait = Duration.ofMillis(this.random.nextInt(LONGEST_WAIT_MILLIS));
		String key = "k" + this.random.nextInt(KEYS);
		return switch (this.random.nextInt(10)) {
			case 0 -> LockRequest.of(key).waitTime(wait).mode(LockMode.SHARED);
			case 1 -> LockRequest.of(key).waitTime(wait).fair(true);
			case 2 -> LockRequest.of(key, "k" + this.random.nextInt(KEYS)).waitTime(wait);
			default -> LockRequest.of(key).waitTime(wait);
		};
	}

	private CompletableFuture<Void> ended(LockHandle handle, Throwable failure) {
		if (handle != null) {
			this.acquired.incrementAndGet();
			return handle.closeAsync();
		}
		if (failure instanceof LockNotAcquiredException || failure instanceof LockBackendException) {
			this.failed.incrementAndGet();
		}
		else {
			this.cancelled.incrementAndGet();
		}
		return CompletableFuture.completedFuture(null);
	}

}
