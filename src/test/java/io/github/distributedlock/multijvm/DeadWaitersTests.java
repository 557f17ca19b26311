package io.github.distributedlock.multijvm;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Listening;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.tck.Ear;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Who waits behind JVMs that do not want the lock any more gets it at once.
 */
@Tag("thorough")
class DeadWaitersTests {

	@RegisterExtension
	static final OwnThreads THREADS = new OwnThreads();

	private static final int DEAD = 50;

	private static final String KEY = "k";

	private static final String WAITERS = "lock-waiters:{k}";

	@ParameterizedTest
	@EnumSource
	void thoseThatHaveClosedTheirConnections(Client client) throws Exception {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED);
				RedisLockBackend others = Client.LETTUCE.backend(server.port())) {
			takesItBehindTheDead(client, server, () -> {
				List<Listening> dead = register(others);
				dead.forEach(Listening::close);
			});
		}
	}

	/**
	 * As machines that have lost their power: the server does not know yet.
	 */
	@ParameterizedTest
	@EnumSource
	void thoseWhoseConnectionsAreStillThere(Client client) throws Exception {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED);
				Jedis admin = server.admin();
				RedisLockBackend others = Client.LETTUCE.backend(server.port())) {
			takesItBehindTheDead(client, server, () -> {
				register(others);
				await("silence").until(() -> {
					List<String> now = admin.time();
					long silent = Long.parseLong(now.get(0)) * 1000 + Long.parseLong(now.get(1)) / 1000 - 1000;
					return admin.zcount("lock-alive:{k}", 0, silent) == DEAD;
				});
			});
		}
	}

	private static List<Listening> register(RedisLockBackend backend) {
		return IntStream.range(0, DEAD).mapToObj((number) -> {
			String instance = "dead#" + number;
			Listening listening = backend.listen(instance, new Ear());
			assertThat(backend.acquireOrRegister(Claim.of(KEY, instance + ":1", instance, Duration.ofSeconds(30)))
				.acquired()).isFalse();
			return listening;
		}).toList();
	}

	private static void takesItBehindTheDead(Client client, RedisServers.Server server, Runnable die) throws Exception {
		try (Jedis admin = server.admin();
				RedisLockBackend backend = client.backend(server.port());
				LockEngine engine = LockEngine.builder(backend).build();
				LockEngine other = LockEngine.builder(backend).build();
				ClientCommands commands = new ClientCommands(server)) {
			LockHandle held = other.acquire(KEY);
			die.run();
			CompletableFuture<Long> acquired = CompletableFuture.supplyAsync(() -> acquire(engine), THREADS);
			await().until(() -> admin.zcard(WAITERS) == DEAD + 1);

			long released = System.nanoTime();
			List<String> ran = commands.linesDuring(() -> {
				held.close();
				assertThat(acquired).succeedsWithin(Patience.PATIENCE);
			});
			long taken = Patience.get(acquired, "the time");

			System.out.printf("Behind %d dead waiters (%s): taken %d ms after the release%n", DEAD, client,
					TimeUnit.NANOSECONDS.toMillis(taken - released));
			assertThat(ClientCommands.reservationsIn(ran)).as("for whom it was kept").hasSizeLessThan(DEAD / 2);
			assertThat(admin.exists(WAITERS)).isFalse();
		}
	}

	private static long acquire(LockEngine engine) {
		try (LockHandle handle = engine.acquire(LockRequest.of(KEY).waitTime(Duration.ofMinutes(1)))) {
			return System.nanoTime();
		}
	}

	/**
	 * A wake-up for a JVM in which nobody waits any more, as after a withdrawal that got
	 * lost.
	 */
	@ParameterizedTest
	@EnumSource
	void whoIsWokenAndDoesNotNeedItPassesItOn(Client client) throws Exception {
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED);
				Jedis admin = server.admin();
				RedisLockBackend backend = client.backend(server.port());
				LockEngine holder = LockEngine.builder(backend).build();
				LockEngine woken = LockEngine.builder(backend).build();
				LockEngine next = LockEngine.builder(backend).build();
				ClientCommands commands = new ClientCommands(server)) {
			String instance = afterItHasWaited(woken, holder, admin);
			LockHandle held = holder.acquire(KEY);
			CompletableFuture<Long> acquired = CompletableFuture.supplyAsync(() -> acquire(next), THREADS);
			await().until(() -> admin.zcard(WAITERS) == 1);
			StoreTrace trace = new StoreTrace(KEY).read(commands.linesDuring(() -> {
				// It came before the one that waits.
				try (Pipeline registration = admin.pipelined()) {
					registration.zadd(WAITERS, 1, instance);
					registration.zadd("lock-alive:{k}", Long.MAX_VALUE / 4096, instance);
				}
				held.close();
				assertThat(acquired).succeedsWithin(Patience.PATIENCE);
			}));
			assertThat(trace.wakeUps()).as("one for each of the two").isEqualTo(2);
			assertThat(trace.lapses()).isZero();
		}
	}

	private static String afterItHasWaited(LockEngine engine, LockEngine holder, Jedis admin) throws Exception {
		LockHandle held = holder.acquire(KEY);
		CompletableFuture<String> owner = CompletableFuture.supplyAsync(() -> {
			try (LockHandle handle = engine.acquire(KEY)) {
				return handle.owner();
			}
		}, THREADS);
		await().until(() -> admin.zcard(WAITERS) == 1);
		held.close();
		return owner.get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS).replaceFirst(":.*", "");
	}

}
