package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.args.ClientPauseMode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link Combiner}, on a server that holds commands up until many threads have
 * sent theirs.
 */
class CombinedCommandsTests {

	private static final int THREADS = 64;

	/** More than any test takes. */
	private static final Duration LEASE = Duration.ofHours(1);

	@RegisterExtension
	final TestRedis redis = new TestRedis();

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	@Test
	void manyThreadsNeedFewReadsOfTheServer() {
		RedisLockBackend backend = this.redis.backend(Client.JEDIS);
		warmUp(backend);
		this.redis.admin().configResetStat();
		List<CompletableFuture<Boolean>> acquired = new ArrayList<>();
		holdUp(() -> {
			for (int i = 0; i < THREADS; i++) {
				Claim claim = Claim.of("k" + i, "a:" + i, "a", LEASE);
				acquired.add(CompletableFuture.supplyAsync(() -> backend.acquire(claim).acquired(), this.threads));
			}
			awaitAllWait();
		});
		assertThat(acquired).allSatisfy((one) -> assertThat(Patience.get(one, "a lock")).isTrue());
		assertThat(this.redis.admin().info("commandstats")).contains("cmdstat_set:calls=" + THREADS + ",");
		// Includes the reads of the administrator.
		assertThat(stat("stats", "total_reads_processed")).isLessThan(THREADS / 2);
	}

	@Test
	@Tag("failover")
	void aConnectionThatIsCutInMidBatchLeavesNoKey() {
		try (Relay relay = new Relay(this.redis.port())) {
			RedisLockBackend backend = this.redis.backend(Client.JEDIS.connectTo(relay.port()),
					RedisLockSettings.defaults().commandTimeout(Patience.COMMAND));
			LockEngine engine = this.redis.closing(LockEngine.builder(backend).watchdogTimeout(LEASE).build());
			warmUp(backend);
			AtomicInteger sets = new AtomicInteger();
			relay.add((request, connection) -> {
				boolean cut = request.command().equals("SET") && sets.incrementAndGet() == THREADS / 2;
				if (cut) {
					connection.close();
				}
				return cut;
			});
			AtomicInteger failures = new AtomicInteger();
			List<CompletableFuture<?>> requests = new ArrayList<>();
			this.redis.admin().configResetStat();
			holdUp(() -> {
				for (int i = 0; i < THREADS; i++) {
					LockRequest request = LockRequest.of("k" + i)
						.waitTime((i % 2 == 0) ? Duration.ZERO : Patience.PATIENCE);
					requests.add(CompletableFuture.runAsync(() -> lock(engine, request, failures), this.threads));
				}
				awaitAllWait();
			});
			requests.forEach((one) -> Patience.get(one, "a request"));
			assertThat(failures.get()).as("those that do not wait and were in the batch").isGreaterThan(1);
			await("no key is left, though none runs out").atMost(Patience.PATIENCE)
				.until(() -> this.redis.admin().keys("lock*").isEmpty());
			assertThat(stat("commandstats", "cmdstat_evalsha:calls")).as("second attempts, releases and clean-ups")
				.isLessThan(4L * THREADS);
		}
	}

	private static void lock(LockEngine engine, LockRequest request, AtomicInteger failures) {
		try {
			engine.acquire(request).close();
		}
		catch (LockBackendException ex) {
			failures.incrementAndGet();
		}
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_21)
	void virtualThreadsThatWaitLeaveOthersTheirCarriers() throws Exception {
		RedisLockBackend backend = this.redis.backend(Client.JEDIS);
		warmUp(backend);
		ExecutorService virtual = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor")
			.invoke(null);
		int many = 64 * Runtime.getRuntime().availableProcessors();
		CountDownLatch begun = new CountDownLatch(many);
		List<CompletableFuture<Boolean>> acquired = new ArrayList<>();
		this.redis.admin().clientPause(Patience.PATIENCE.toMillis(), ClientPauseMode.WRITE);
		try {
			for (int i = 0; i < many; i++) {
				Claim claim = Claim.of("k" + i, "a:" + i, "a", LEASE);
				acquired.add(CompletableFuture.supplyAsync(() -> {
					begun.countDown();
					return backend.acquire(claim).acquired();
				}, virtual));
			}
			Patience.await(begun, "all to begin, though none gets a reply");
			Patience.get(CompletableFuture.runAsync(() -> {
			}, virtual), "another thread");
			this.redis.admin().clientUnpause();
			assertThat(acquired).allSatisfy((one) -> assertThat(Patience.get(one, "a lock")).isTrue());
		}
		finally {
			virtual.shutdownNow();
		}
	}

	// Opens all connections, so that none is being opened later while commands pile up.
	private void warmUp(RedisLockBackend backend) {
		await().ignoreException(LockBackendException.class).until(() -> !backend.release("warm", "nobody"));
		List<CompletableFuture<?>> requests = new ArrayList<>();
		holdUp(() -> {
			for (int i = 0; i < Combiner.WIRES; i++) {
				Claim claim = Claim.of("warm", "a:warm-" + i, "a", Duration.ofMillis(1));
				requests.add(CompletableFuture.runAsync(() -> backend.acquire(claim), this.threads));
				await("each is sent by itself").until(() -> blocked() == requests.size());
			}
		});
		requests.forEach((one) -> Patience.get(one, "a reply"));
	}

	private void holdUp(Runnable begin) {
		this.redis.admin().clientPause(Patience.PATIENCE.toMillis(), ClientPauseMode.WRITE);
		begin.run();
		this.redis.admin().clientUnpause();
	}

	private long blocked() {
		return this.redis.admin().clientList().lines().filter((line) -> line.contains("flags=b")).count();
	}

	// One on each connection for the server, the others for them.
	private void awaitAllWait() {
		await("all threads wait").until(() -> this.threads.all()
			.stream()
			.filter((thread) -> thread.getState() == Thread.State.TIMED_WAITING)
			.count() == THREADS - Combiner.WIRES);
	}

	private long stat(String section, String name) {
		return this.redis.admin()
			.info(section)
			.lines()
			.filter((line) -> line.startsWith(name))
			.mapToLong((line) -> Long.parseLong(line.replaceAll("^\\D+(\\d+).*", "$1")))
			.sum();
	}

}
