package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.redis.internal.Link;
import io.github.distributedlock.backend.redis.internal.OwnConnections;
import io.github.distributedlock.backend.redis.internal.RedisClients;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.params.SetParams;

import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Events between two commands of best effort, none of which is late.
 */
class BestEffortTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	private static final KeyNames NAMES = new KeyNames("lock");

	private static final String LOCK = "lock:{k}";

	private static final Duration LEASE = Duration.ofMinutes(10);

	private static final Claim HOLDER = Claim.of("k", "holder:1", "holder", LEASE);

	private static final Claim WAITER = Claim.of("k", "waiter:1", "waiter", LEASE);

	private static final Duration PATIENT = Duration.ofMinutes(1);

	private static final int MOST_COMMANDS = 16;

	private JedisConnectionFactory factory;

	private OwnConnections connections;

	private Link link;

	@BeforeEach
	void connect() {
		this.factory = (JedisConnectionFactory) Client.JEDIS.connectTo(redis.port());
		this.factory.afterPropertiesSet();
		this.factory.start();
		this.connections = RedisClients.derive(this.factory, PATIENT);
		this.link = beforeEach(() -> {
		});
	}

	@AfterEach
	void close() {
		this.connections.close();
		this.factory.destroy();
	}

	/**
	 * Nobody listens: so the release finds a waiter that cannot hear, or takes every
	 * waiter for listening.
	 */
	@ParameterizedTest
	@CsvSource({ "false, false", "true, false", "true, true" })
	void aWaiterThatTakesTheLockDuringAReleaseKeepsIt(boolean publishes, boolean cluster) {
		Steps holder = store(publishes, cluster);
		Steps waiter = store(publishes, cluster);
		int taken = 0;
		for (int command = 1; command <= MOST_COMMANDS; command++) {
			redis.admin().del(LOCK);
			holder.acquire(this.link, HOLDER, false);
			waiter.acquire(this.link, WAITER, true);
			AtomicBoolean acquired = new AtomicBoolean();
			holder.release(before(command, () -> acquired.set(waiter.acquire(this.link, WAITER, true).acquired())), "k",
					HOLDER.owner());
			if (acquired.get()) {
				taken++;
				assertThat(redis.admin().get(LOCK)).as("taken before command %d", command).isEqualTo(WAITER.owner());
			}
		}
		assertThat(taken).isPositive();
	}

	@Test
	void aReservationWhoseWaiterHasGivenUpIsNotTouchedAgain() {
		redis.inTime(() -> {
			Steps store = store(false, false);
			store.acquire(this.link, HOLDER, false);
			store.acquire(this.link, WAITER, true);
			AtomicInteger commands = new AtomicInteger();
			AtomicBoolean removed = new AtomicBoolean();
			Link link = beforeEach(() -> {
				commands.incrementAndGet();
				if (("reserved:waiter").equals(redis.admin().get(LOCK)) && removed.compareAndSet(false, true)) {
					redis.admin().zrem("lock-waiters:{k}", "waiter");
					commands.set(0);
				}
			});
			assertThat(store.release(link, "k", HOLDER.owner())).isTrue();
			assertThat(removed).isTrue();
			assertThat(commands).as("commands after that it was found not to wait").hasValue(0);
		});
	}

	@Test
	void anInstanceComparesAndChangesAKeyOneTimeAfterAnother() {
		CompareAndSet compareAndSet = new CompareAndSet.BestEffort();
		byte[] name = NAMES.lock("k");
		String owner = HOLDER.owner();
		redis.admin().set(LOCK, HOLDER.owner(), SetParams.setParams().px(LEASE.toMillis()));
		AtomicBoolean released = new AtomicBoolean();
		Thread release = new Thread(() -> {
			released.set(compareAndSet.replace(this.link, name, owner, null, 0));
		});
		Link renewing = before(3, () -> {
			release.start();
			await("the release, until it waits or has ended").until(
					() -> release.getState() == Thread.State.WAITING || release.getState() == Thread.State.TERMINATED);
		});
		assertThat(compareAndSet.replace(renewing, name, owner, owner, LEASE.toMillis())).as("renewed").isTrue();
		Patience.join(release);
		assertThat(released).isTrue();
		assertThat(redis.admin().exists(LOCK)).isFalse();
	}

	/**
	 * Before the comparison the key gets long to live, so that nothing but the margin
	 * keeps the change off.
	 */
	@Test
	void aKeyThatMayRunOutBeforeTheChangeIsLeftAlone() {
		String owner = HOLDER.owner();
		live(Atomicity.MARGIN_MILLIS);
		Link link = before(2, () -> live(LEASE.toMillis()));
		assertThat(new CompareAndSet.BestEffort().replace(link, NAMES.lock("k"), owner, owner, LEASE.toMillis()))
			.isFalse();
	}

	@Test
	void theTimeOfTheComparisonCountsForTheMargin() {
		String owner = HOLDER.owner();
		long margin = Atomicity.MARGIN_MILLIS;
		live(2 * margin);
		// More than a millisecond less, since each clock rounds.
		Link link = before(2, () -> {
			await("a key that is near its end").until(() -> redis.admin().pttl(LOCK) < margin - 10);
			live(LEASE.toMillis());
		});
		assertThat(new CompareAndSet.BestEffort().replace(link, NAMES.lock("k"), owner, owner, LEASE.toMillis()))
			.isFalse();
	}

	private static void live(long millis) {
		redis.admin().set(LOCK, HOLDER.owner(), SetParams.setParams().px(millis));
	}

	private Steps store(boolean publishes, boolean cluster) {
		OwnConnections one = this.connections;
		OwnConnections connections = cluster ? new OwnConnections(one.shared(), null, one.signals(), one.masters(),
				null, one.tls(), one.rights(), one.end()) : one;
		RedisLockSettings settings = RedisLockSettings.defaults()
			.commandTimeout(PATIENT)
			.signals(publishes ? Signals.AUTO : Signals.NONE);
		return new PlainSteps(new CompareAndSet.BestEffort(), connections, settings, new UnansweredRenewals());
	}

	private Link before(int command, Runnable action) {
		AtomicInteger commands = new AtomicInteger();
		return beforeEach(() -> {
			if (commands.incrementAndGet() == command) {
				action.run();
			}
		});
	}

	private Link beforeEach(Runnable action) {
		return new SteppedLink(this.connections.shared().commands(), action);
	}

}
