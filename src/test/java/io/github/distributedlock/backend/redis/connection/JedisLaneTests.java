package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import io.github.distributedlock.backend.redis.wire.UnsentException;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.Relay;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link JedisLane}, on a server that is slow to let connections in.
 */
class JedisLaneTests {

	private static final Duration ENDLESS = Duration.ofMinutes(10);

	private static final long PATIENT = Patience.COMMAND.toNanos();

	@RegisterExtension
	final TestRedis redis = new TestRedis();

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private final CountDownLatch open = new CountDownLatch(1);

	private Relay relay;

	private JedisLane lane;

	@BeforeEach
	void connect() {
		this.relay = this.redis.closing(new Relay(this.redis.port()));
		this.lane = new JedisLane(this::factory, ENDLESS);
		this.redis.closing((AutoCloseable) this.lane::close);
		this.redis.closing((AutoCloseable) this.open::countDown);
	}

	@Test
	void aConnectionIsWaitedForNoLongerThanThereIsTimeAndIsKept() {
		JedisLane.Loan first = this.lane.borrow(PATIENT);
		delayConnections();
		for (int i = 0; i < 3; i++) {
			assertThatExceptionOfType(UnsentException.class).isThrownBy(() -> this.lane.borrow(1))
				.havingCause()
				.withMessageContaining("the connection is still being opened");
		}
		this.open.countDown();
		JedisLane.Loan second = this.lane.borrow(PATIENT);
		assertThat(second.link().connection()).isNotSameAs(first.link().connection());
		assertThat(connections()).isEqualTo(2);
	}

	@Test
	void whatIsIdleIsBorrowedAtOnce() {
		this.lane.run((link) -> null);
		delayConnections();
		assertThat(this.lane.borrow(1).link().connection().isConnected()).isTrue();
	}

	@Test
	void anInterruptedThreadGetsANewConnectionAndStaysInterrupted() {
		Thread.currentThread().interrupt();
		Boolean connected = this.lane.run((link) -> ((JedisLink) link).connection().isConnected());
		assertThat(Thread.interrupted()).isTrue();
		assertThat(connected).isTrue();
	}

	@Test
	void thoseThatWaitForTheSameConnectionGetOneEach() {
		delayConnections();
		CompletableFuture<JedisLane.Loan> one = borrow();
		CompletableFuture<JedisLane.Loan> other = borrow();
		await("both wait").until(() -> this.threads.all()
			.stream()
			.filter((thread) -> thread.getState() == Thread.State.TIMED_WAITING)
			.count() == 2);
		this.open.countDown();
		assertThat(Patience.get(one, "a connection").link().connection())
			.isNotSameAs(Patience.get(other, "another connection").link().connection());
	}

	private CompletableFuture<JedisLane.Loan> borrow() {
		return CompletableFuture.supplyAsync(() -> this.lane.borrow(PATIENT), this.threads);
	}

	// By the first thing that a client says.
	private void delayConnections() {
		this.relay.add((request, connection) -> {
			if (request.command().equals("CLIENT")) {
				Patience.await(this.open, "connections to be let in");
			}
			return false;
		});
	}

	// Without the administrator's.
	private long connections() {
		return this.redis.admin().clientList().lines().count() - 1;
	}

	private JedisPooledFactory factory() {
		JedisPooledFactory factory = new JedisPooledFactory(
				new RedisStandaloneConfiguration("localhost", this.relay.port()),
				JedisClientConfiguration.builder().readTimeout(ENDLESS).connectTimeout(ENDLESS).usePooling().build());
		JedisClient.keepOneConnectionForAStep(factory);
		factory.afterPropertiesSet();
		factory.start();
		return factory;
	}

}
