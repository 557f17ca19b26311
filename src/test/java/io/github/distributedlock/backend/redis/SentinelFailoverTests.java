package io.github.distributedlock.backend.redis;

import io.github.distributedlock.backend.LockBackend.Renewal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiConsumer;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Access;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisSentinels;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.Variant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.ClientKillParams;
import redis.clients.jedis.params.ClientKillParams.SkipMe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The fate of a lock whose master dies, so that a replica takes over, where the servers
 * and the Sentinels ask for a user and a password.
 */
@Tag("failover")
class SentinelFailoverTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration PATIENCE = Patience.PATIENCE;

	private final List<LockEvent.Lost> lost = new CopyOnWriteArrayList<>();

	private GuardedServers servers;

	private RedisSentinels sentinels;

	private RedisServers.Server master;

	private RedisServers.Server replica;

	private RedisLockBackend backend;

	private LockEngine engine;

	@BeforeEach
	void startServers() {
		this.servers = new GuardedServers(Variant.SERVER, Access.of("shop", "s3cret"));
		this.sentinels = this.servers.sentinels();
		this.master = this.sentinels.servers().master();
		this.replica = this.sentinels.servers().replicas().get(0);
	}

	@AfterEach
	void stopServers() {
		this.engine.close();
		this.backend.close();
		this.servers.close();
	}

	@ParameterizedTest
	@EnumSource
	void aLockThatAReplicaHasOutlivesTheMaster(Client client) {
		open(client, Variant.settings().replicasToAck(1, Duration.ofMillis(500)));
		LockHandle handle = this.engine.acquire(LockRequest.of("k").waitTime(PATIENCE));
		this.master.kill();
		awaitFailover();
		assertThat(this.backend.renew(List.of(Renewal.of(claim(handle.owner()))))).as("renewed at the new master")
			.containsExactly(true);
		try (Jedis admin = this.replica.admin()) {
			admin.select(Topology.SENTINEL.database());
			long least = LEASE.multipliedBy(4).dividedBy(5).toMillis();
			await().atMost(PATIENCE).until(() -> admin.pttl("lock:{k}") > least);
			assertThat(admin.get("lock:{k}")).isEqualTo(handle.owner());
		}
		assertThat(handle.isHeld()).isTrue();
		handle.close();
		assertThat(this.lost).isEmpty();
	}

	// No lock can prevent this: see replicas-to-ack.
	@ParameterizedTest
	@EnumSource
	void aLockThatNoReplicaHasIsToldLostAtTheNextRenewal(Client client) {
		open(client, Variant.settings());
		LockHandle handle = this.engine.acquire(LockRequest.of("k").waitTime(PATIENCE));
		try (Jedis admin = this.replica.admin()) {
			admin.select(Topology.SENTINEL.database());
			await().until(() -> admin.exists("lock:{k}"));
			// The replica is left as if the master had died before sending the lock.
			admin.configSet("replica-read-only", "no");
			admin.del("lock:{k}");
		}
		this.master.kill();
		awaitFailover();
		await().atMost(PATIENCE).untilAsserted(() -> assertThat(this.lost).hasSize(1));
		assertThat(this.lost).extracting(LockEvent.Lost::reason).containsExactly(Reason.TAKEN);
		assertThat(handle.isHeld()).isFalse();
		handle.close();
		this.engine.acquire(LockRequest.of("k").waitTime(PATIENCE)).close();
	}

	@ParameterizedTest
	@EnumSource
	void aLockThatStaysGoesOverWithTheMaster(Client client) {
		staying(client, () -> {
			try (Jedis admin = admin(this.replica)) {
				await().atMost(PATIENCE).until(() -> admin.exists("lock:{k}"));
			}
		}, StayingLock::assertUsedAndRecalled);
		assertThat(this.lost).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void aLockThatStaysAndThatNoReplicaHasIsNotUsedUnnoticed(Client client) {
		staying(client, () -> {
			try (Jedis admin = admin(this.replica)) {
				await().atMost(PATIENCE).until(() -> admin.exists("lock:{k}"));
				// The replica is left as if the master had died before sending the lock.
				admin.configSet("replica-read-only", "no");
				admin.del("lock:{k}");
			}
		}, StayingLock::assertNotUsedUnnoticed);
	}

	/**
	 * Lets a lock stay, and the master die.
	 */
	private void staying(Client client, Runnable before, BiConsumer<StayingLock, Jedis> after) {
		open(client, Variant.settings());
		RedisLockBackend elsewhere = client.backend(Topology.SENTINEL.of(this.servers), Variant.settings());
		try (LockEngine there = LockEngine.builder(elsewhere).build()) {
			StayingLock lock = new StayingLock("k", this.engine, there);
			lock.keep();
			before.run();
			this.master.kill();
			awaitFailover();
			try (Jedis admin = admin(this.replica)) {
				after.accept(lock, admin);
			}
		}
		finally {
			elsewhere.close();
		}
	}

	/** A master that the Sentinels cannot reach, but we can, knows nothing of its end. */
	@ParameterizedTest
	@EnumSource
	void aMasterThatTheSentinelsHaveReplacedIsLeftThoughItAnswers(Client client) {
		// Nobody waits for the next renewal of these settings here.
		open(client, Variant.settings(), Duration.ofHours(1));
		LockHandle held = acquire("k", null);
		LockHandle fixed = acquire("fixed", LEASE.multipliedBy(100));
		LockHandle gone = acquire("gone", null);
		LockHandle goneFixed = acquire("gone-fixed", LEASE.multipliedBy(100));
		RedisLockBackend elsewhere = client.backend(Topology.SENTINEL.of(this.servers), Variant.settings());
		try (LockEngine there = LockEngine.builder(elsewhere).build(); Jedis old = this.master.admin()) {
			CompletableFuture<LockHandle> waiter = there
				.acquireAsync(LockRequest.of("k").waitTime(PATIENCE.multipliedBy(10)));
			await("somebody listens").atMost(PATIENCE).until(() -> isListenedTo(old));
			try (Jedis admin = admin(this.replica)) {
				await().atMost(PATIENCE).until(() -> admin.exists("lock:{gone-fixed}", "lock-waiters:{k}") == 2);
				admin.configSet("replica-read-only", "no");
				admin.del("lock:{gone}", "lock:{gone-fixed}");
				admin.pexpire("lock:{k}", LEASE.toMillis());
			}
			failOverBehind(old);
			await("what is not there is told lost").atMost(PATIENCE)
				.untilAsserted(() -> assertThat(this.lost).extracting(LockEvent.Lost::key)
					.containsExactlyInAnyOrder("gone", "gone-fixed"));
			assertThat(this.lost).extracting(LockEvent.Lost::reason).containsOnly(Reason.TAKEN);
			await("a renewal at the new master").atMost(PATIENCE)
				.until(() -> leftAt(this.replica, "k") > LEASE.multipliedBy(2).toMillis());
			assertThat(held.isHeld()).isTrue();
			assertThat(fixed.isHeld()).isTrue();
			assertThat(leftAt(this.replica, "fixed")).as("not longer than it was to be")
				.isLessThan(fixed.remaining().plus(LEASE.multipliedBy(2)).toMillis());
			await("who waits listens to the new master, and not to the old one").atMost(PATIENCE)
				.until(() -> !isListenedTo(old) && isListenedTo(this.replica));
			held.close();
			LockHandle next = Patience.get(waiter, "the lock at the new master");
			assertThat(leftAt(this.replica, "k")).isPositive();
			next.close();
			assertThat(old.role().get(0)).as("the old one still is one").isEqualTo("master");
		}
		finally {
			elsewhere.close();
		}
		fixed.close();
		gone.close();
		goneFixed.close();
	}

	// Lets the Sentinels and the replica lose the old one, but not us.
	private void failOverBehind(Jedis old) {
		old.aclSetUser("default", "off");
		old.clientKill(ClientKillParams.clientKillParams().user("default").skipMe(SkipMe.YES));
		await("another master").atMost(PATIENCE).until(() -> this.sentinels.master() == this.replica);
	}

	private LockHandle acquire(String key, Duration lease) {
		LockRequest request = LockRequest.of(key).waitTime(PATIENCE);
		return this.engine.acquire((lease != null) ? request.leaseTime(lease) : request);
	}

	// Opens connections of its own: earlier ones are closed when the server becomes the
	// master.
	private static Jedis admin(RedisServers.Server server) {
		Jedis admin = server.admin();
		admin.select(Topology.SENTINEL.database());
		return admin;
	}

	private static boolean isListenedTo(RedisServers.Server server) {
		try (Jedis admin = server.admin()) {
			return isListenedTo(admin);
		}
	}

	private static boolean isListenedTo(Jedis admin) {
		return !admin.pubsubChannels("lock-wake:*").isEmpty();
	}

	private static long leftAt(RedisServers.Server server, String key) {
		try (Jedis admin = admin(server)) {
			return admin.pttl("lock:{" + key + "}");
		}
	}

	private void awaitFailover() {
		await().atMost(PATIENCE).until(() -> this.sentinels.master() == this.replica);
		await().atMost(PATIENCE).ignoreExceptions().until(() -> {
			this.backend.release("any", "nobody");
			// Renewals go over a connection of their own, which may learn of the change
			// later.
			this.backend.renew(List.of(Renewal.of(claim("nobody"))));
			return true;
		});
	}

	private void open(Client client, RedisLockSettings settings) {
		open(client, settings, LEASE);
	}

	private void open(Client client, RedisLockSettings settings, Duration lease) {
		this.backend = client.backend(Topology.SENTINEL.of(this.servers), settings);
		this.engine = LockEngine.builder(this.backend).watchdogTimeout(lease).listener((event) -> {
			if (event instanceof LockEvent.Lost loss) {
				this.lost.add(loss);
			}
		}).build();
	}

	private static Claim claim(String owner) {
		return Claim.of("k", owner, "a", Duration.ofMillis(1));
	}

}
