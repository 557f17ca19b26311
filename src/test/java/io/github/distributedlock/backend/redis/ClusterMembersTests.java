package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Listening;
import io.github.distributedlock.faults.FaultTest;
import io.github.distributedlock.fixtures.Access;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisCluster;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.RedisServers.Server;
import io.github.distributedlock.tck.Ear;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A subscription in a cluster whose nodes are replaced by others.
 */
@Tag("failover")
class ClusterMembersTests {

	private static final String CHANNEL = "lock-wake:b";

	private final AtomicLong now = new AtomicLong();

	private final AtomicInteger owners = new AtomicInteger();

	private final Ear ear = new Ear();

	private RedisCluster cluster;

	private RedisLockBackend backend;

	private Listening listening;

	@AfterEach
	void close() {
		this.backend.close();
		this.cluster.close();
	}

	@FaultTest(value = "cluster scaled in, the removed node still answers",
			promise = "whoever waits subscribes to another node, and hears of the next grant")
	void aNodeThatWasRemovedAndStillAnswersIsLeft(Client client) {
		this.cluster = RedisCluster.start(RedisServers.EMBEDDED, 3);
		open(client);
		Server removed = this.cluster.masters().stream().filter(this::isSubscribedTo).findFirst().orElseThrow();
		List<Server> rest = this.cluster.masters().stream().filter((node) -> node != removed).toList();
		remove(removed, rest);
		assertThat(isSubscribedTo(removed)).as("subscribed to the node that was removed").isTrue();
		assertThat(this.listening.hears()).as("counts on the subscription at first").isTrue();
		awaitWhileWaiting(rest.get(0), () -> rest.stream().anyMatch(this::isSubscribedTo));
		assertHears(rest.get(0));
	}

	@FaultTest(value = "all first masters of a cluster replaced, one after the other",
			promise = "commands and subscriptions find the new ones, and whoever waits hears of the next grant")
	void aSubscriptionComesBackWhenAllFirstMastersAreReplaced(Client client) {
		this.cluster = RedisCluster.start(RedisServers.EMBEDDED, Access.OPEN, 3, 1, "cluster-node-timeout 1500");
		open(client);
		for (Server master : this.cluster.masters()) {
			Server replica = this.cluster.replicaOf(master);
			RedisCluster.takeOver(replica);
			master.kill();
			// Finds out where the slots are.
			await().atMost(Patience.PATIENCE).ignoreExceptions().until(() -> {
				this.now.addAndGet(Duration.ofSeconds(1).toNanos());
				Claim claim = claim(this.cluster.lockOf(master), "a");
				return this.backend.acquire(claim).acquired() && this.backend.release(claim.key(), claim.owner());
			});
		}
		List<Server> rest = this.cluster.masters().stream().map(this.cluster::replicaOf).toList();
		awaitWhileWaiting(this.cluster.masters().get(0), () -> rest.stream().anyMatch(this::isSubscribedTo));
		assertHears(this.cluster.masters().get(0));
	}

	private void assertHears(Server first) {
		awaitWhileWaiting(first, this.listening::hears);
		// A waiter that has not asked lately, as on a busy machine, gets a reservation.
		await("a grant").ignoreException(LockBackendException.class).until(() -> {
			String key = this.cluster.lockOf(first);
			Claim holder = claim(key, "a");
			this.backend.acquire(holder);
			Claim waiting = claim(key, "b").number(1);
			this.backend.acquireOrRegister(waiting);
			this.backend.release(key, holder.owner());
			this.ear.awaitWake(key);
			return this.ear.owners().contains(waiting.owner());
		});
	}

	private void awaitWhileWaiting(Server first, BooleanSupplier condition) {
		String key = this.cluster.lockOf(first);
		await().ignoreExceptions().until(() -> this.backend.acquire(claim(key, "a")).acquired());
		await().ignoreExceptions().until(() -> {
			this.now.addAndGet(Duration.ofSeconds(1).toNanos());
			this.backend.acquireOrRegister(claim(key, "b"));
			return condition.getAsBoolean();
		});
	}

	private boolean isSubscribedTo(Server node) {
		try (Jedis admin = node.admin()) {
			return admin.pubsubChannels().contains(CHANNEL);
		}
	}

	/** Removes a node in the way of redis-cli, which leaves a node that answers. */
	private void remove(Server removed, List<Server> rest) {
		try (Jedis leaving = removed.admin(); Jedis heir = rest.get(0).admin(); Jedis other = rest.get(1).admin()) {
			leaving.flushAll();
			String id = heir.clusterMyId();
			for (Jedis node : List.of(heir, leaving, other)) {
				Pipeline slots = node.pipelined();
				IntStream.range(0, 16_384)
					.filter((slot) -> this.cluster.masterOfSlot(slot) == removed)
					.forEach((slot) -> slots.sendCommand(() -> "CLUSTER".getBytes(), "SETSLOT", String.valueOf(slot),
							"NODE", id));
				slots.sync();
			}
			heir.clusterForget(leaving.clusterMyId());
			other.clusterForget(leaving.clusterMyId());
		}
	}

	private void open(Client client) {
		this.backend = new RedisLockBackend(client.connectTo(this.cluster),
				RedisLockSettings.defaults().commandTimeout(Duration.ofSeconds(2)), this.now::get);
		this.listening = this.backend.listen("b", this.ear);
		await().ignoreExceptions().until(() -> {
			this.backend.acquireOrRegister(claim("warm", "b"));
			return this.listening.hears();
		});
	}

	private Claim claim(String key, String instance) {
		return Claim.of(key, instance + ":" + this.owners.incrementAndGet(), instance, Duration.ofSeconds(30));
	}

}
