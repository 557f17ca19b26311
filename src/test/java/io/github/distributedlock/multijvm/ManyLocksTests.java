package io.github.distributedlock.multijvm;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Ten thousand locks that one JVM holds at once, until each was renewed
 * {@code -Dlock.scale.rounds} times, once by default.
 */
@Tag("thorough")
class ManyLocksTests {

	private static final int LOCKS = 10_000;

	private static final int LOCKS_PER_CALL = 200;

	private static final int ROUNDS = Integer.getInteger("lock.scale.rounds", 1);

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Pattern EVALSHA = Pattern.compile("cmdstat_evalsha:calls=(\\d+)");

	@ParameterizedTest
	@EnumSource
	@Timeout(value = 10, unit = TimeUnit.MINUTES)
	void areRenewedWithFewCommandsAndThreads(Client client) throws Exception {
		List<LockEvent> lost = new CopyOnWriteArrayList<>();
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED);
				Jedis admin = server.admin();
				RedisLockBackend backend = client.backend(server.port());
				LockEngine engine = LockEngine.builder(backend)
					.watchdogTimeout(LEASE)
					.listener((event) -> keepLosses(event, lost))
					.build()) {
			engine.run(LockRequest.of("warm-up").waitTime(Patience.PATIENCE), () -> {
			});
			long heap = usedHeap();
			List<LockHandle> handles = acquireAll(engine);
			Set<String> threads = ownThreads();
			awaitRenewal(handles);
			long calls = calls(admin);
			long begin = System.nanoTime();
			long cpu = processCpu();
			for (int i = 0; i < ROUNDS; i++) {
				awaitRenewal(handles);
			}
			calls = calls(admin) - calls;
			cpu = processCpu() - cpu;
			System.out.printf(
					"%,d locks held, lease %s (%s): %d lost, %d calls in %d rounds, %.1f %% of a core,"
							+ " %d bytes of heap each, threads %s%n",
					LOCKS, LEASE, client, lost.size(), calls, ROUNDS, 100.0 * cpu / (System.nanoTime() - begin),
					(usedHeap() - heap) / LOCKS, ownThreads());
			assertThat(lost).isEmpty();
			assertThat(handles).hasSize(LOCKS).allMatch(LockHandle::isHeld);
			assertThat(admin.dbSize()).isEqualTo(LOCKS);
			// A round may have begun before, and another one since.
			assertThat(calls).as("one call for %d locks in each round", LOCKS_PER_CALL)
				.isBetween((ROUNDS - 1L) * LOCKS / LOCKS_PER_CALL, (ROUNDS + 2L) * LOCKS / LOCKS_PER_CALL);
			assertThat(ownThreads()).as("threads while leases are renewed")
				.hasSizeLessThanOrEqualTo(threads.size() + 4);
			handles.forEach(LockHandle::close);
			assertThat(admin.dbSize()).isZero();
		}
	}

	// Waits until each lock has more time left than before.
	private static void awaitRenewal(List<LockHandle> handles) {
		Map<LockHandle, Duration> before = new HashMap<>();
		handles.forEach((handle) -> before.put(handle, handle.remaining()));
		await("renewal of each").until(() -> {
			before.entrySet().removeIf((entry) -> {
				Duration now = entry.getKey().remaining();
				return now.compareTo(entry.setValue(now)) > 0;
			});
			return before.isEmpty();
		});
	}

	private static void keepLosses(LockEvent event, List<LockEvent> lost) {
		if (event instanceof LockEvent.Lost) {
			lost.add(event);
		}
	}

	// Several threads acquire, as in an application.
	private static List<LockHandle> acquireAll(LockEngine engine) throws Exception {
		int threads = 16;
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		List<Future<List<LockHandle>>> parts = new ArrayList<>();
		for (int thread = 0; thread < threads; thread++) {
			int first = thread;
			parts.add(executor.submit(() -> {
				List<LockHandle> part = new ArrayList<>();
				for (int i = first; i < LOCKS; i += threads) {
					part.add(engine.acquire("order-" + i));
				}
				return part;
			}));
		}
		List<LockHandle> handles = new ArrayList<>();
		for (Future<List<LockHandle>> part : parts) {
			handles.addAll(Patience.get(part, "the locks"));
		}
		executor.shutdown();
		return handles;
	}

	private static Set<String> ownThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.map(Thread::getName)
			.filter((name) -> name.startsWith("distributed-lock-"))
			.collect(Collectors.toSet());
	}

	private static long calls(Jedis admin) {
		Matcher matcher = EVALSHA.matcher(admin.info("commandstats"));
		return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
	}

	private static long usedHeap() {
		System.gc();
		return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
	}

	private static long processCpu() {
		return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
			.getProcessCpuTime();
	}

}
