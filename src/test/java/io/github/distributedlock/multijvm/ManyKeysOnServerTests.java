package io.github.distributedlock.multijvm;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.redis.Atomicity;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Requests for several keys on a real server: as many as one may have, of which all are
 * taken, and all are given back or parked; and two of which one is lost meanwhile.
 */
@Tag("thorough")
class ManyKeysOnServerTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	private static final int MANY = LockRequest.MOST_KEYS;

	private static final Duration LONG = Duration.ofMinutes(5);

	private static final Duration LEASE = Duration.ofSeconds(2);

	private static final int TRIALS = Integer.getInteger("lock.faults.trials", 1);

	private static final LockRequest REQUEST = LockRequest
		.of(IntStream.range(0, MANY).mapToObj((i) -> "order:" + i).toList())
		.waitTime(LONG);

	static Stream<Arguments> ways() {
		return Stream.of(Arguments.of(Client.JEDIS, Atomicity.LUA), Arguments.of(Client.LETTUCE, Atomicity.LUA),
				Arguments.of(Client.JEDIS, Atomicity.BEST_EFFORT));
	}

	@ParameterizedTest
	@MethodSource("ways")
	void areAllGivenBack(Client client, Atomicity atomicity) {
		try (LockHandle handle = engine(client, atomicity).acquire(REQUEST)) {
			assertThat(handle.isHeld()).isTrue();
			assertThat(redis.admin().dbSize()).as("held").isEqualTo(MANY);
		}
		assertThat(redis.admin().dbSize()).as("held afterwards").isZero();
	}

	@ParameterizedTest
	@EnumSource
	void areAllParked(Client client) {
		engine(client, Atomicity.LUA).acquire(REQUEST.minHoldTime(LONG)).close();
		List<String> values = redis.admin().mget(redis.admin().keys("*").toArray(String[]::new));
		assertThat(values).hasSize(MANY).allMatch((value) -> value.startsWith("parked:"));
	}

	static Stream<Arguments> losses() {
		LockRequest both = LockRequest.of("a", "b").waitTime(LONG).detached(true);
		Function<LockRequest, Function<LockEngine, CompletableFuture<LockHandle>>> blocking = (
				request) -> (engine) -> CompletableFuture.supplyAsync(() -> engine.acquire(request),
						(task) -> new Thread(task).start());
		Function<LockRequest, Function<LockEngine, CompletableFuture<LockHandle>>> async = (
				request) -> (engine) -> engine.acquireAsync(request);
		return Stream.of(Client.values())
			.flatMap((client) -> Stream.of(Arguments.of(client, "blocking", blocking.apply(both)),
					Arguments.of(client, "blocking, fixed lease", blocking.apply(both.leaseTime(LEASE))),
					Arguments.of(client, "asynchronous", async.apply(both)),
					Arguments.of(client, "asynchronous, fixed lease", async.apply(both.leaseTime(LEASE)))));
	}

	/**
	 * One key is deleted and taken by others while the request waits for the other.
	 */
	@ParameterizedTest(name = "{0}, {1}")
	@MethodSource("losses")
	void areNotHandedOutIfOneWasLostMeanwhile(Client client, String how,
			Function<LockEngine, CompletableFuture<LockHandle>> acquire) {
		LockEngine waiter = redis
			.closing(LockEngine.builder(redis.backend(client)).application("waiter").watchdogTimeout(LEASE).build());
		LockEngine other = engine(client, Atomicity.LUA);
		for (int i = 0; i < TRIALS; i++) {
			LockHandle b = other.acquire("b");
			CompletableFuture<LockHandle> both = acquire.apply(waiter);
			// The server has the key of "a" before the waiter knows, so look at "b".
			await("a waiter of b").until(() -> !waiter.inspect("b").waiters().isEmpty());
			redis.admin().del("lock:{a}");
			LockHandle a = other.acquire("a");
			await("the waiter is told of the loss").until(() -> waiter.keysHeld() == 0);
			b.close();
			await("the waiter asks for the lost key")
				.until(() -> both.isDone() || !waiter.inspect("a").waiters().isEmpty());
			assertThat(both).isNotDone();
			a.close();
			try (LockHandle handle = Patience.get(both, "both keys")) {
				assertThat(handle.isHeld()).isTrue();
				assertThat(redis.admin().mget("lock:{a}", "lock:{b}"))
					.allMatch((owner) -> owner != null && owner.startsWith("waiter@"));
			}
		}
	}

	private static LockEngine engine(Client client, Atomicity atomicity) {
		RedisLockBackend backend = redis.backend(client,
				RedisLockSettings.defaults().atomicity(atomicity).commandTimeout(Patience.COMMAND));
		return redis.closing(LockEngine.builder(backend).watchdogTimeout(LONG).build());
	}

}
