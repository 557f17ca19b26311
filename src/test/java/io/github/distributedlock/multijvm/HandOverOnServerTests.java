package io.github.distributedlock.multijvm;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientPauseMode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A lock that is handed on inside a JVM, on a server.
 */
@Tag("thorough")
class HandOverOnServerTests {

	private static final Duration LEASE = Duration.ofSeconds(6);

	private static final Duration PATIENCE = Patience.PATIENCE;

	private static final int CYCLES = 1_000;

	static Stream<Arguments> losses() {
		Consumer<Jedis> deleted = (admin) -> admin.del("lock:{k}");
		Consumer<Jedis> silent = (admin) -> admin.clientPause(LEASE.plusMillis(500).toMillis(), ClientPauseMode.ALL);
		return Stream.of(Client.values())
			.flatMap((client) -> Map.of("key deleted", deleted, "server silent", silent)
				.entrySet()
				.stream()
				.map((loss) -> Arguments.of(client, loss.getKey(), loss.getValue())));
	}

	@ParameterizedTest(name = "{0}, {1}")
	@MethodSource("losses")
	void lossReachesWhoHoldsThenAndNobodyElse(Client client, String what, Consumer<Jedis> loss) throws Exception {
		List<String> lost = new CopyOnWriteArrayList<>();
		List<String> told = new CopyOnWriteArrayList<>();
		Map<String, LockHandle> handles = new ConcurrentHashMap<>();
		CountDownLatch over = new CountDownLatch(1);
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED);
				Jedis admin = server.admin();
				RedisLockBackend backend = client.backend(server.port());
				LockEngine engine = LockEngine.builder(backend)
					.watchdogTimeout(LEASE)
					.localSlice(Duration.ofMinutes(10))
					.listener((event) -> {
						if (event instanceof LockEvent.Lost) {
							lost.add(event.name());
						}
					})
					.build()) {
			// Connects before anything has to be in time.
			engine.acquire(LockRequest.of("warm-up").leaseTime(PATIENCE).waitTime(PATIENCE)).close();
			LockHandle first = engine.acquire("k").onLost(() -> told.add("first"));
			for (String name : List.of("second", "third")) {
				Thread thread = new Thread(() -> {
					try (LockHandle handle = engine.acquire(LockRequest.of("k").waitTime(PATIENCE).name(name))) {
						handle.onLost(() -> told.add(name));
						handles.put(name, handle);
						Patience.await(over, "the end of the test");
					}
				}, name);
				thread.start();
				await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
			}
			first.close();
			await().until(() -> handles.containsKey("second"));
			loss.accept(admin);
			await().untilAsserted(() -> assertThat(told).containsExactly("second"));
			await().until(() -> handles.containsKey("third"));
			assertThat(handles.get("second").isHeld()).isFalse();
			assertThat(handles.get("third").isHeld()).isTrue();
			assertThat(handles.get("third").owner()).isNotEqualTo(first.owner()).isEqualTo(admin.get("lock:{k}"));
			over.countDown();
			await().until(() -> !admin.exists("lock:{k}"));
			assertThat(told).containsExactly("second");
			assertThat(lost).containsExactly("second");
		}
	}

	/**
	 * Each handle is closed and extended by others, too, while its successors hold the
	 * lock.
	 */
	@ParameterizedTest
	@EnumSource
	void earlierHandlesDoNotTouchTheirSuccessors(Client client) throws Exception {
		int threads = 4;
		int[] counter = new int[1];
		ExecutorService executor = Executors.newFixedThreadPool(2 * threads);
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED);
				RedisLockBackend backend = client.backend(server.port());
				LockEngine engine = LockEngine.builder(backend).localSlice(Duration.ofMillis(2)).build()) {
			List<Future<?>> workers = IntStream.range(0, threads).<Future<?>>mapToObj((i) -> executor.submit(() -> {
				for (int n = 0; n < CYCLES; n++) {
					LockHandle handle = engine.acquire(LockRequest.of("k").waitTime(PATIENCE));
					CompletableFuture<Void> late = CompletableFuture.runAsync(() -> meddle(handle), executor);
					int before = counter[0];
					Thread.yield();
					handle.checkHeld();
					counter[0] = before + 1;
					handle.close();
					Patience.get(late, "the other thread");
				}
			})).toList();
			for (Future<?> worker : workers) {
				worker.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
			}
		}
		finally {
			executor.shutdownNow();
		}
		assertThat(counter[0]).isEqualTo(threads * CYCLES);
	}

	private static void meddle(LockHandle handle) {
		try {
			handle.extend(Duration.ofSeconds(31));
			if (!handle.isHeld()) {
				handle.close();
			}
		}
		catch (IllegalStateException ex) {
			// Closed already, as it should be in half of the cases.
		}
	}

}
