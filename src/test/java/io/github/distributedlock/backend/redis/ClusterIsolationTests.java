package io.github.distributedlock.backend.redis;

import io.github.distributedlock.backend.LockBackend.Renewal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisCluster;
import io.github.distributedlock.fixtures.Variant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientPauseMode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A master of a cluster that stalls costs the locks of the master's slots, and no other.
 */
@Tag("failover")
class ClusterIsolationTests {

	private static final Duration LEASE = Duration.ofSeconds(15);

	private static final Duration TIMEOUT = Duration.ofSeconds(3);

	private static final int LOCKS = 30;

	private static final int STALLED = 0;

	@RegisterExtension
	static final RedisCluster cluster = RedisCluster.start(Variant.SERVER, 3);

	private final Queue<String> lost = new ConcurrentLinkedQueue<>();

	private final Map<String, LockHandle> handles = new HashMap<>();

	private final List<Jedis> admins = new ArrayList<>();

	private RedisLockBackend backend;

	private LockEngine engine;

	@AfterEach
	void close() {
		this.engine.close();
		this.backend.close();
		this.admins.forEach(Jedis::close);
	}

	@ParameterizedTest
	@CsvSource({ "JEDIS, STOPPED", "JEDIS, PAUSED", "LETTUCE, STOPPED", "LETTUCE, PAUSED" })
	void aStalledMasterCostsNoLockOfTheOthers(Client client, Stall stall) {
		open(client);
		List<List<String>> keys = keysOfEachMaster();
		keys.forEach((some) -> some.forEach((key) -> this.handles.put(key, this.engine.acquire(patient(key)))));
		List<String> stalled = keys.get(STALLED);
		List<String> healthy = new ArrayList<>(keys.get(1));
		healthy.addAll(keys.get(2));
		stall.begin(cluster);
		try {
			while (this.lost.size() < stalled.size()) {
				assertThat(healthy).allSatisfy(this::isHeldAndAtTheServer);
				if (stall.answersReads) {
					assertThat(stalled).allSatisfy(this::isNotHeldIfGoneAtTheServer);
				}
				for (int master = 1; master < 3; master++) {
					try (LockHandle another = this.engine.acquire(patient(keyOf(master)))) {
						assertThat(another.isHeld()).isTrue();
					}
				}
			}
			await().untilAsserted(() -> assertThat(this.lost).containsExactlyInAnyOrderElementsOf(stalled));
			assertThat(stalled).noneMatch((key) -> this.handles.get(key).isHeld());
		}
		finally {
			stall.end(cluster);
		}
		for (String key : stalled) {
			this.engine.acquire(LockRequest.of(key).waitTime(Patience.PATIENCE)).close();
		}
		assertThat(healthy).allSatisfy(this::isHeldAndAtTheServer);
		this.handles.values().forEach(LockHandle::close);
		assertThat(this.lost).containsExactlyInAnyOrderElementsOf(stalled);
	}

	@ParameterizedTest
	@EnumSource
	void whoGivesUpOnAStalledMasterDelaysNobodyAtTheOthers(Client client) throws Exception {
		open(client);
		String key = keyOf(1);
		Claim elsewhere = Claim.of(key, "elsewhere", "elsewhere", Duration.ofMinutes(1));
		this.backend.acquire(elsewhere);
		Stall.STOPPED.begin(cluster);
		ExecutorService threads = Executors.newFixedThreadPool(2 * LOCKS);
		try {
			for (int i = 0; i < 2 * LOCKS; i++) {
				LockRequest stalled = LockRequest.of(keyOf(STALLED)).waitTime(TIMEOUT.multipliedBy(2));
				threads.execute(() -> this.engine.tryAcquire(stalled));
			}
			threads.shutdown();
			assertThat(threads.awaitTermination(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
			// The subscription may have to leave the stalled master first.
			await().ignoreException(LockBackendException.class)
				.until(() -> this.engine.tryAcquire(LockRequest.of(key).waitTime(Duration.ofMillis(100))).isEmpty());
			this.backend.release(key, elsewhere.owner());
			// A fraction of what the stalled withdrawals take, one after the other.
			this.engine.acquire(LockRequest.of(key).waitTime(TIMEOUT.multipliedBy(LOCKS / 3))).close();
		}
		finally {
			Stall.STOPPED.end(cluster);
			threads.shutdownNow();
		}
	}

	/**
	 * The requests are many more than the engine has threads that ask.
	 */
	@ParameterizedTest
	@EnumSource
	void asynchronousRequestsForAStalledMasterDelayNobodyElse(Client client) {
		open(client);
		List<CompletableFuture<LockHandle>> stalled = new ArrayList<>();
		Stall.STOPPED.begin(cluster);
		try {
			for (int i = 0; i < 10 * LOCKS; i++) {
				stalled.add(this.engine.acquireAsync(LockRequest.of(keyOf(STALLED)).waitTime(Patience.PATIENCE)));
			}
			for (int i = 0; i < LOCKS; i++) {
				for (int master = 1; master < 3; master++) {
					LockHandle handle = Patience.get(this.engine.acquireAsync(patient(keyOf(master))),
							"a key of another master");
					Patience.get(handle.closeAsync(), "its release");
				}
			}
			assertThat(stalled).noneMatch(CompletableFuture::isDone);
		}
		finally {
			Stall.STOPPED.end(cluster);
		}
		stalled.forEach((acquired) -> Patience.get(acquired, "a key of the master that stalled").close());
	}

	// On a busy machine a command to a healthy master may time out, too. Commands that
	// wait for each other at a stalled master take longer than this.
	private static LockRequest patient(String key) {
		return LockRequest.of(key).waitTime(TIMEOUT.multipliedBy(LOCKS));
	}

	private void isHeldAndAtTheServer(String key) {
		LockHandle handle = this.handles.get(key);
		assertThat(handle.isHeld()).as("%s is held", key).isTrue();
		Jedis admin = admin(key);
		assertThat(admin.get(name(key))).as("who owns %s", key).isEqualTo(handle.owner());
		assertThat(admin.pttl(name(key))).as("what is left of %s", key).isPositive();
	}

	// In this order: what is gone at the server has been lost here before.
	private void isNotHeldIfGoneAtTheServer(String key) {
		boolean there = admin(key).exists(name(key));
		assertThat(there || !this.handles.get(key).isHeld()).as("%s is at the server, or not held", key).isTrue();
	}

	private void open(Client client) {
		this.backend = new RedisLockBackend(client.connectTo(cluster), Variant.settings().commandTimeout(TIMEOUT));
		this.engine = LockEngine.builder(this.backend).watchdogTimeout(LEASE).listener((event) -> {
			if (event instanceof LockEvent.Lost loss) {
				this.lost.add(loss.key());
			}
		}).build();
		cluster.masters().forEach((master) -> this.admins.add(master.admin()));
		// Opens the connections, for which a busy machine needs more than the timeout.
		Claim nobody = Claim.of(keyOf(STALLED), "nobody", "nobody", LEASE);
		await().ignoreExceptions().until(() -> !this.backend.renew(List.of(Renewal.of(nobody))).get(0));
		await().ignoreExceptions().until(() -> !this.backend.release(nobody.key(), nobody.owner()));
	}

	private Jedis admin(String key) {
		return this.admins.get(master(key));
	}

	private static List<List<String>> keysOfEachMaster() {
		List<List<String>> keys = new ArrayList<>();
		for (int master = 0; master < 3; master++) {
			List<String> some = new ArrayList<>();
			while (some.size() < LOCKS) {
				some.add(keyOf(master));
			}
			keys.add(some);
		}
		return keys;
	}

	private static String keyOf(int master) {
		String key = UUID.randomUUID().toString();
		return (master(key) == master) ? key : keyOf(master);
	}

	private static int master(String key) {
		return cluster.masters().indexOf(cluster.masterOf(name(key)));
	}

	private static String name(String key) {
		return "lock:{" + key + "}";
	}

	private enum Stall {

		STOPPED(false) {

			@Override
			void begin(RedisCluster cluster) {
				cluster.masters().get(STALLED).pause();
			}

			@Override
			void end(RedisCluster cluster) {
				cluster.masters().get(STALLED).resume();
			}

		},

		PAUSED(true) {

			@Override
			void begin(RedisCluster cluster) {
				try (Jedis admin = cluster.masters().get(STALLED).admin()) {
					admin.clientPause(60_000, ClientPauseMode.WRITE);
				}
			}

			@Override
			void end(RedisCluster cluster) {
				try (Jedis admin = cluster.masters().get(STALLED).admin()) {
					admin.clientUnpause();
				}
			}

		};

		private final boolean answersReads;

		Stall(boolean answersReads) {
			this.answersReads = answersReads;
		}

		abstract void begin(RedisCluster cluster);

		abstract void end(RedisCluster cluster);

	}

}
