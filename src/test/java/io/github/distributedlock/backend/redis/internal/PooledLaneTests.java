package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link PooledLane}, on a server that is slow to let connections in.
 */
class PooledLaneTests {

	private static final Duration ENDLESS = Duration.ofMinutes(10);

	private static final long PATIENT = Patience.COMMAND.toNanos();

	@RegisterExtension
	final TestRedis redis = new TestRedis();

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private final CountDownLatch letIn = new CountDownLatch(1);

	private Relay relay;

	private PooledLane<JedisLink> lane;

	@BeforeEach
	void connect() {
		this.relay = this.redis.closing(new Relay(this.redis.port()));
		this.lane = new PooledLane<>(this::open, 64, ENDLESS);
		this.redis.closing((AutoCloseable) this.lane::close);
		this.redis.closing((AutoCloseable) this.letIn::countDown);
	}

	@Test
	void aConnectionIsWaitedForNoLongerThanThereIsTimeAndIsKept() {
		JedisLink first = this.lane.borrow(PATIENT);
		delayConnections();
		for (int i = 0; i < 3; i++) {
			assertThatExceptionOfType(UnsentException.class).isThrownBy(() -> this.lane.borrow(1))
				.havingCause()
				.withMessageContaining("the connection is still being opened");
		}
		this.letIn.countDown();
		JedisLink second = this.lane.borrow(PATIENT);
		assertThat(second.connection()).isNotSameAs(first.connection());
		assertThat(connections()).isEqualTo(2);
	}

	@Test
	void connectionIsClosedByTheCallerWhereNoThreadCanBeHad() {
		PooledLane<JedisLink> limited = new PooledLane<>(this::open, 1, ENDLESS, (task) -> {
			throw new OutOfMemoryError("unable to create native thread (test)");
		});
		JedisLink link = limited.borrow(PATIENT);
		limited.discard(link);
		assertThat(link.connection().isConnected()).isFalse();
		assertThat(limited.borrow(PATIENT)).as("another one").isNotSameAs(link);
		limited.close();
	}

	@Test
	void whatIsIdleIsBorrowedAtOnce() {
		this.lane.run((link) -> null);
		delayConnections();
		assertThat(this.lane.borrow(PATIENT).connection().isConnected()).isTrue();
	}

	@Test
	void anInterruptedThreadGetsANewConnectionAndStaysInterrupted() {
		Thread.currentThread().interrupt();
		Boolean connected = this.lane.run((link) -> ((JedisLink) link).connection().isConnected());
		assertThat(Thread.interrupted()).isTrue();
		assertThat(connected).isTrue();
	}

	@Test
	void anInterruptedThreadWaitsForAConnectionThatIsInUse() {
		PooledLane<JedisLink> limited = new PooledLane<>(this::open, 1, ENDLESS);
		this.redis.closing((AutoCloseable) limited::close);
		JedisLink only = limited.borrow(PATIENT);
		CompletableFuture<Boolean> waiting = CompletableFuture.supplyAsync(() -> {
			Thread.currentThread().interrupt();
			limited.discard(limited.borrow(PATIENT));
			return Thread.interrupted();
		}, this.threads);
		await().until(() -> waiting.isDone() || waits(this.threads.all().get(0)));
		limited.giveBack(only);
		assertThat(Patience.get(waiting, "a connection")).as("interrupt flag").isTrue();
	}

	private static boolean waits(Thread thread) {
		return !thread.isInterrupted() && thread.getState() == Thread.State.TIMED_WAITING;
	}

	@Test
	void callersThatWaitForAConnectionGetOneEach() {
		delayConnections();
		CompletableFuture<JedisLink> one = borrow();
		CompletableFuture<JedisLink> other = borrow();
		await("both wait").until(() -> this.threads.all()
			.stream()
			.filter((thread) -> thread.getState() == Thread.State.TIMED_WAITING)
			.count() == 2);
		this.letIn.countDown();
		assertThat(Patience.get(one, "a connection").connection())
			.isNotSameAs(Patience.get(other, "another connection").connection());
	}

	@Test
	void aBrokenConnectionTakesAllConnectionsOfThatTimeAlong() {
		JedisLink broken = this.lane.borrow(PATIENT);
		JedisLink lent = this.lane.borrow(PATIENT);
		JedisLink idle = this.lane.borrow(PATIENT);
		this.lane.giveBack(idle);
		this.lane.discard(broken);
		this.lane.giveBack(lent);
		JedisLink next = this.lane.borrow(PATIENT);
		assertThat(next).isNotIn(broken, lent, idle);
		this.lane.giveBack(next);
		assertThat(this.lane.borrow(PATIENT)).isSameAs(next);
		await("the others are closed").until(() -> connections() == 1);
	}

	@Test
	void aConnectionIsKeptAfterARefusalAlone() {
		Object first = this.lane.run((link) -> link);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.lane.run((link) -> {
			throw LockBackendException.of("all was answered").retryable(true).withoutEffect(true).build();
		}));
		assertThat(this.lane.<Object>run((link) -> link)).isSameAs(first);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.lane.run((link) -> {
			throw LockBackendException.of("something was not answered").retryable(true).build();
		}));
		assertThat(this.lane.<Object>run((link) -> link)).isNotSameAs(first);
	}

	@Test
	void aConnectionThatCannotBeClosedIsLentToNobody() {
		PooledLane<JedisLink> lane = new PooledLane<>(this::open, 1, ENDLESS, (task) -> {
			throw new InternalError("as if no thread could be had");
		});
		this.redis.closing((AutoCloseable) lane::close);
		JedisLink first = lane.borrow(PATIENT);
		assertThatExceptionOfType(InternalError.class).isThrownBy(() -> lane.discard(first));
		assertThat(lane.borrow(PATIENT)).isNotSameAs(first);
		first.close();
	}

	private CompletableFuture<JedisLink> borrow() {
		return CompletableFuture.supplyAsync(() -> this.lane.borrow(PATIENT), this.threads);
	}

	// The first command of a client waits.
	private void delayConnections() {
		this.relay.add((request, connection) -> {
			if (request.command().equals("CLIENT")) {
				Patience.await(this.letIn, "connections to be let in");
			}
			return false;
		});
	}

	// Without the administrator's.
	private long connections() {
		return this.redis.admin().clientList().lines().count() - 1;
	}

	private JedisLink open() {
		Connection connection = new Connection(new HostAndPort("localhost", this.relay.port()),
				DefaultJedisClientConfig.builder().timeoutMillis((int) ENDLESS.toMillis()).build());
		return new JedisLink(connection, connection::disconnect, ENDLESS, () -> true);
	}

}
