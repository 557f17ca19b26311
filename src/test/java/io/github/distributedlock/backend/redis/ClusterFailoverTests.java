package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Access;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisCluster;
import io.github.distributedlock.fixtures.RedisServers.Server;
import io.github.distributedlock.fixtures.Variant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Locks that are held and waited for while a replica takes the place of their master.
 */
@Tag("failover")
class ClusterFailoverTests {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private static final Duration LEASE = Duration.ofSeconds(12);

	private static final Duration PATIENCE = Patience.PATIENCE;

	@RegisterExtension
	static final RedisCluster cluster = RedisCluster.start(Variant.SERVER, Access.OPEN, 3, 1,
			"cluster-node-timeout 1500");

	private final List<LockEvent> losses = new CopyOnWriteArrayList<>();

	private final List<RedisLockBackend> backends = new ArrayList<>();

	private LockEngine here;

	private LockEngine there;

	@AfterEach
	void close() {
		this.here.close();
		this.there.close();
		this.backends.forEach(RedisLockBackend::close);
	}

	@ParameterizedTest
	@EnumSource
	void aMasterThatDiesCostsNoLockThatItsReplicaHas(Client client) throws Exception {
		open(client);
		Server master = cluster.masters().get(client.ordinal());
		Server replica = cluster.replicaOf(master);
		String key = cluster.lockOf(master);
		LockHandle handle = this.here.acquire(key);
		CompletableFuture<Void> waiter = waiter(key);
		awaitAt(replica, "lock-waiters:{" + key + "}");
		master.kill();
		assertTakenOver(replica, handle, waiter);
		master.start();
	}

	@ParameterizedTest
	@EnumSource
	void aMasterThatIsReplacedInOrderCostsNoLock(Client client) throws Exception {
		open(client);
		Server master = cluster.masters().get(2);
		Server replica = cluster.replicaOf(master);
		String key = cluster.lockOf(master);
		LockHandle handle = this.here.acquire(key);
		CompletableFuture<Void> waiter = waiter(key);
		awaitAt(replica, "lock-waiters:{" + key + "}");
		RedisCluster.takeOver(replica);
		assertTakenOver(replica, handle, waiter);
		RedisCluster.takeOver(master);
	}

	@ParameterizedTest
	@EnumSource
	void aKeptLockSurvivesTheFailoverAndIsNotUsedOnceLost(Client client) {
		open(client);
		Server master = cluster.masters().get(2);
		Server replica = cluster.replicaOf(master);
		String key = cluster.lockOf(master);
		StayingLock lock = new StayingLock(key, this.here, this.there);
		lock.keep();
		awaitAt(replica, "lock:{" + key + "}");
		RedisCluster.takeOver(replica);
		try (Jedis admin = replica.admin()) {
			lock.assertUsedAndRecalled(admin);
			assertThat(this.losses).isEmpty();
			lock.keep();
			admin.del("lock:{" + key + "}"); // As if the replica had never got the lock.
			lock.assertNotUsedUnnoticed(admin);
		}
		RedisCluster.takeOver(master);
	}

	private void assertTakenOver(Server next, LockHandle handle, CompletableFuture<Void> waiter) throws Exception {
		String name = "lock:{" + handle.keys().get(0) + "}";
		try (Jedis admin = next.admin()) {
			await().atMost(PATIENCE).until(() -> RedisCluster.isMaster(admin));
			long least = LEASE.multipliedBy(4).dividedBy(5).toMillis();
			// Connections were lost, or slots looked for, while this was not a master
			// yet.
			await().atMost(PATIENCE).ignoreExceptions().until(() -> admin.pttl(name) < least);
			await("a renewal").atMost(PATIENCE).ignoreExceptions().until(() -> admin.pttl(name) > least);
			assertThat(admin.get(name)).isEqualTo(handle.owner());
		}
		assertThat(handle.isHeld()).isTrue();
		assertThat(waiter).isNotDone();
		handle.close();
		waiter.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
		assertThat(this.losses).isEmpty();
	}

	private CompletableFuture<Void> waiter(String key) {
		LockRequest patient = LockRequest.of(key).waitTime(PATIENCE.multipliedBy(2));
		return CompletableFuture.runAsync(() -> this.there.acquire(patient).close(), this.threads);
	}

	private static void awaitAt(Server replica, String redisKey) {
		try (Jedis admin = replica.admin()) {
			admin.readonly();
			await().atMost(PATIENCE).until(() -> admin.exists(redisKey));
		}
	}

	private void open(Client client) {
		this.here = engine(client);
		this.there = engine(client);
	}

	private LockEngine engine(Client client) {
		RedisLockBackend backend = new RedisLockBackend(client.connectTo(cluster), Variant.settings());
		this.backends.add(backend);
		return LockEngine.builder(backend).watchdogTimeout(LEASE).listener((event) -> {
			if (event instanceof LockEvent.Lost) {
				this.losses.add(event);
			}
		}).build();
	}

}
