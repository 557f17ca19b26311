package io.github.distributedlock.multijvm;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What locks cost Redis, as Redis counts it.
 */
@Tag("thorough")
class CommandStatisticsTests {

	private static final int CYCLES = 200;

	private static final int WAITERS = 100;

	private static final int POLLS = 8;

	/** Two polls, and the pulse of the subscription. */
	private static final double MOST_PER_SECOND = 3;

	/** A lease that needs no renewal during the test. */
	private static final Duration NOT_RENEWED = Duration.ofHours(1);

	@ParameterizedTest
	@EnumSource
	void anUncontendedCycleIsOneCommandForEachKeyAndOneToRelease(Client client) {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED);
				Jedis admin = server.admin();
				RedisLockBackend backend = client.backend(server.port());
				LockEngine engine = LockEngine.builder(backend).build();
				ClientCommands commands = new ClientCommands(server)) {
			assertCommands(commands, engine, admin, "k");
			assertCommands(commands, engine, admin, "a", "b");
		}
	}

	private static void assertCommands(ClientCommands commands, LockEngine engine, Jedis admin, String... keys) {
		engine.acquire(LockRequest.of(keys)).close(); // Connects, and loads the script.
		admin.configResetStat();
		Map<String, Long> sent = commands.during(() -> {
			for (int i = 0; i < CYCLES; i++) {
				engine.acquire(LockRequest.of(keys)).close();
			}
		});
		assertThat(sent).as("what clients sent")
			.isEqualTo(Map.of("set", (long) CYCLES * keys.length, "evalsha", (long) CYCLES));
		assertThat(calls(admin)).as("what Redis ran, in scripts too")
			.containsEntry("set", CYCLES * keys.length)
			.containsEntry("evalsha", CYCLES)
			.doesNotContainKeys("publish", "eval", "script", "zadd");
	}

	@ParameterizedTest
	@EnumSource
	void aHundredWaitersOfOneJvmCostHardlyMoreThanOne(Client client) throws InterruptedException {
		List<Thread> waiters = new ArrayList<>();
		AtomicInteger served = new AtomicInteger();
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED);
				Jedis admin = server.admin();
				RedisLockBackend backend = client.backend(server.port());
				LockEngine engine = LockEngine.builder(backend).build();
				LockEngine other = LockEngine.builder(backend).watchdogTimeout(NOT_RENEWED).build();
				ClientCommands commands = new ClientCommands(server)) {
			try (LockHandle held = other.acquire("k")) {
				for (int i = 0; i < WAITERS; i++) {
					waiters.add(new Thread(() -> {
						engine.acquire(LockRequest.of("k").waitTime(Duration.ofMinutes(1))).close();
						served.incrementAndGet();
					}, "waiter-" + i));
				}
				waiters.forEach(Thread::start);
				await().until(() -> admin.zcard("lock-waiters:{k}") == 1 && waiters.stream().allMatch(this::isParked));

				long begin = System.nanoTime();
				int before = calls(admin).get("evalsha");
				Map<String, Long> sent = commands.during(() -> await("the one who asks for all still asks")
					.until(() -> calls(admin).get("evalsha") >= before + POLLS));
				double seconds = (System.nanoTime() - begin) / 1e9;
				sent.remove("info"); // By this test.
				long all = sent.values().stream().mapToLong(Long::longValue).sum();
				System.out.printf("%d waiters of one JVM (%s): %.1f commands/s, %s in %.1f s%n", WAITERS, client,
						all / seconds, sent, seconds);
				// Whoever is slow sends less in that time.
				assertThat((double) all).isLessThanOrEqualTo(1 + MOST_PER_SECOND * seconds);
			}
			for (Thread waiter : waiters) {
				waiter.join(Patience.PATIENCE.toMillis());
			}
			assertThat(served).hasValue(WAITERS);
		}
	}

	private boolean isParked(Thread waiter) {
		return waiter.getState() == Thread.State.TIMED_WAITING;
	}

	private static Map<String, Integer> calls(Jedis admin) {
		return Pattern.compile("cmdstat_(\\w+):calls=(\\d+)")
			.matcher(admin.info("commandstats"))
			.results()
			.collect(Collectors.toMap((call) -> call.group(1), CommandStatisticsTests::number));
	}

	private static int number(MatchResult call) {
		return Integer.parseInt(call.group(2));
	}

}
