package io.github.distributedlock.multijvm;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A lock that comes with its message, on a server.
 */
class GrantsOnServerTests {

	@RegisterExtension
	static final TestRedis REDIS = new TestRedis();

	@RegisterExtension
	static final OwnThreads THREADS = new OwnThreads();

	private static final LockRequest PATIENT = LockRequest.of("k").waitTime(Patience.PATIENCE);

	/** A waiter that may be granted the lock polls no more often. */
	private static final Duration POLL = Duration.ofMillis(576);

	private static final Pattern SCRIPTS = Pattern.compile("cmdstat_eval(?:sha)?:calls=(\\d+)");

	private static final Pattern CALLS = Pattern.compile("cmdstat_(?!info|config|command)[^:]+:calls=(\\d+)");

	@ParameterizedTest
	@EnumSource
	void aWaiterHasTheLockWithoutAskingAgain(Client client) {
		REDIS.inTime(() -> {
			LockEngine one = REDIS.engine(client);
			LockEngine other = REDIS.engine(client);
			LockHandle held = one.acquire("k");
			Future<LockHandle> waiting = waits(other);
			REDIS.admin().configResetStat();
			held.close();
			try (LockHandle granted = Patience.get(waiting, "the lock")) {
				assertThat(scripts()).as("the release alone").isEqualTo(1);
				assertThat(REDIS.admin().get("lock:{k}")).isEqualTo(granted.owner());
				assertThat(granted.isHeld()).isTrue();
			}
			assertThat(REDIS.admin().keys("*")).isEmpty();
		});
	}

	@ParameterizedTest
	@EnumSource
	void whatAWaiterHasIsRenewed(Client client) {
		LockEngine one = REDIS.engine(client);
		LockEngine other = REDIS
			.closing(LockEngine.builder(REDIS.backend(client)).watchdogTimeout(Duration.ofSeconds(6)).build());
		LockHandle held = one.acquire("k");
		Future<LockHandle> waiting = waits(other);
		held.close();
		try (LockHandle granted = Patience.get(waiting, "the lock")) {
			AtomicLong left = new AtomicLong(Long.MAX_VALUE);
			await("a longer lease").atMost(Patience.PATIENCE).until(() -> {
				long now = REDIS.admin().pttl("lock:{k}");
				return now > left.getAndSet(now);
			});
			assertThat(granted.isHeld()).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource
	void whoeverHadToWaitAsksForAPlaceAtOnceTheNextTime(Client client) {
		REDIS.inTime(() -> {
			LockEngine one = REDIS.engine(client);
			LockEngine other = REDIS.engine(client);
			LockHandle held = one.acquire("k");
			Future<LockHandle> waiting = waits(other);
			held.close();
			held = Patience.get(waiting, "the lock");
			waiting = waits(one);
			held.close();
			held = Patience.get(waiting, "the lock");
			REDIS.admin().configResetStat();
			waiting = waits(other);
			held.close();
			Patience.get(waiting, "the lock").close();
			assertThat(scripts()).as("a place, and two releases").isEqualTo(3);
		});
	}

	/** The cost of four JVMs of a thread each for the server. */
	@ParameterizedTest
	@EnumSource
	void anOperationTakesFewCommands(Client client) {
		int rounds = 300;
		List<LockEngine> engines = IntStream.range(0, 4).mapToObj((i) -> REDIS.engine(client)).toList();
		int[] counter = new int[1];
		Runnable none = () -> {
		};
		takeTurns(engines, 10, none);
		REDIS.admin().configResetStat();
		long begin = System.nanoTime();
		takeTurns(engines, rounds, () -> counter[0]++);
		long polls = (engines.size() - 1) * ((System.nanoTime() - begin) / POLL.toNanos());
		assertThat(counter[0]).isEqualTo(4 * rounds);
		// A poll is no part of an operation, and there are many on a busy machine.
		long operations = 4 * rounds + polls;
		assertThat((double) scripts() / operations).as("scripts").isLessThan(2.2);
		// One of them is the empty message that finds out whether a subscriber is here.
		assertThat((double) calls() / operations).as("commands: " + REDIS.admin().info("commandstats"))
			.isLessThanOrEqualTo(17);
	}

	/** An engine without grants gets reservations, as one of an earlier version does. */
	@ParameterizedTest
	@EnumSource
	void enginesWithAndWithoutGrantsShareALock(Client client) {
		REDIS.admin().aclSetUser("plain", "reset", "on", ">secret", "~lock*", "&*", "+@all", "-@hash");
		RedisStandaloneConfiguration server = new RedisStandaloneConfiguration("localhost", REDIS.port());
		server.setUsername("plain");
		server.setPassword("secret");
		RedisLockSettings settings = RedisLockSettings.defaults().commandTimeout(Patience.COMMAND);
		RedisLockBackend plain = REDIS.closing(client.backend(server, settings));
		LockEngine reserved = REDIS.closing(LockEngine.builder(plain).build());
		int[] counter = new int[1];
		takeTurns(List.of(REDIS.engine(client), reserved, REDIS.engine(client)), 100, () -> counter[0]++);
		assertThat(counter[0]).isEqualTo(300);
		assertThat(REDIS.admin().exists("lock:{k}")).isFalse();
	}

	/** Each connection that messages come by is cut now and then. */
	@ParameterizedTest
	@EnumSource
	void messagesThatAreLostPutNoTwoOnTheLock(Client client) {
		List<LockEngine> engines = IntStream.range(0, 3).mapToObj((i) -> REDIS.engine(client)).toList();
		int[] counter = new int[1];
		takeTurns(engines, 100, () -> {
			counter[0]++;
			if (counter[0] % 50 == 0) {
				REDIS.admin().clientKill(ClientKillParams.clientKillParams().type(ClientType.PUBSUB));
			}
		});
		assertThat(counter[0]).isEqualTo(300);
		assertThat(REDIS.admin().exists("lock:{k}")).isFalse();
	}

	private static void takeTurns(List<LockEngine> engines, int rounds, Runnable work) {
		List<Future<?>> turns = engines.stream().<Future<?>>map((engine) -> CompletableFuture.runAsync(() -> {
			for (int i = 0; i < rounds; i++) {
				try (LockHandle held = engine.acquire(PATIENT)) {
					work.run();
				}
			}
		}, THREADS)).toList();
		turns.forEach((turn) -> Patience.get(turn, "all turns"));
	}

	private static Future<LockHandle> waits(LockEngine engine) {
		Future<LockHandle> waiting = CompletableFuture.supplyAsync(() -> engine.acquire(PATIENT), THREADS);
		Jedis admin = REDIS.admin();
		await().until(() -> admin.hlen("lock-claims:{k}") > 0 && admin.zcard("lock-waiters:{k}") == 1);
		return waiting;
	}

	private static long scripts() {
		return sum(SCRIPTS);
	}

	private static long calls() {
		return sum(CALLS);
	}

	private static long sum(Pattern calls) {
		return calls.matcher(REDIS.admin().info("commandstats"))
			.results()
			.mapToLong((MatchResult call) -> Long.parseLong(call.group(1)))
			.sum();
	}

}
