package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.redis.internal.Lane;
import io.github.distributedlock.backend.redis.internal.Link;
import io.github.distributedlock.backend.redis.internal.SignalConnector.Listener;
import io.github.distributedlock.backend.redis.internal.SignalConnector.SignalConnection;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.tck.Ear;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The moments at which a {@link NotificationSubscription} tells a listener of a new
 * subscription, so that notifications may have been missed. The server is a connection
 * that acknowledges when the test says so.
 */
class ResubscriptionReportsTests {

	private final Ear ear = new Ear();

	private final BlockingQueue<Connection> opened = new LinkedBlockingQueue<>();

	/** How far the clock is ahead of that of the machine, in nanoseconds. */
	private final AtomicLong ahead = new AtomicLong();

	/** How many subscribers the server counts that publishes. */
	private volatile long subscribers = 1;

	private NotificationSubscription subscription = subscription(Patience.COMMAND);

	@AfterEach
	void close() {
		this.subscription.close();
	}

	@Test
	void firstOneIsNone() {
		begin();
		assertThat(this.subscription.hears()).isTrue();
		assertThat(this.ear.resubscriptions()).isZero();
	}

	@Test
	void eachOneAfterALoss() {
		Connection connection = begin();
		for (int lost = 1; lost <= 2; lost++) {
			connection.close();
			connection = next();
			assertThat(this.ear.resubscriptions()).as("before the acknowledgement").isEqualTo(lost - 1);
			connection.acknowledge();
			assertThat(this.ear.resubscriptions()).isEqualTo(lost);
		}
	}

	/**
	 * The request has polled meanwhile.
	 */
	@Test
	void firstOneThatCameTooLateToBeWaitedFor() {
		this.subscription = subscription(Duration.ofMillis(1));
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(this::register);
		next().acknowledge();
		assertThat(this.ear.resubscriptions()).isOne();
	}

	/**
	 * The other server may not know the waiters, whether or not that server is reached.
	 */
	@Test
	void moveToAnotherServer() {
		begin();
		this.subscription.move();
		assertThat(this.ear.resubscriptions()).isOne();
		next().acknowledge();
		assertThat(this.ear.resubscriptions()).isEqualTo(2);
	}

	@Test
	void oneThatIsDoubtedOnlyOnceItIsProven() {
		begin();
		this.subscribers = 0;
		pulse();
		next().acknowledge();
		assertThat(this.subscription.hears()).isFalse();
		assertThat(this.ear.resubscriptions()).isZero();
		this.subscribers = 1;
		pulse();
		assertThat(this.subscription.hears()).isTrue();
		assertThat(this.ear.resubscriptions()).isOne();
	}

	@Test
	void noneAfterTheEnd() {
		Connection connection = begin();
		this.subscription.close();
		connection.acknowledge();
		assertThat(this.ear.resubscriptions()).isZero();
	}

	private NotificationSubscription subscription(Duration timeout) {
		Pulse pulse = new Pulse(new Commands(), false, "lock-wake:b", this::now);
		return new NotificationSubscription(() -> {
			Connection connection = new Connection();
			this.opened.add(connection);
			return connection;
		}, "lock-wake:b", pulse, timeout, false, this.ear, this::now);
	}

	private long now() {
		return System.nanoTime() + this.ahead.get();
	}

	/**
	 * Subscribes for the first time, while a registration waits for that.
	 */
	private Connection begin() {
		Thread registering = new Thread(this::register);
		registering.start();
		Connection connection = next();
		connection.acknowledge();
		Patience.join(registering);
		return connection;
	}

	private void register() {
		this.subscription.ensureBegun(new byte[0]);
	}

	/**
	 * Registers again when the next pulse is due.
	 */
	private void pulse() {
		this.ahead.addAndGet(Duration.ofSeconds(1).toNanos());
		register();
	}

	/**
	 * Waits for the next connection that listens.
	 */
	private Connection next() {
		await("a connection").atMost(Patience.INTERNAL).until(() -> !this.opened.isEmpty());
		Connection connection = this.opened.remove();
		await("a subscription").atMost(Patience.INTERNAL).until(() -> connection.listener != null);
		return connection;
	}

	private static final class Connection implements SignalConnection {

		private final CountDownLatch end = new CountDownLatch(1);

		private volatile Listener listener;

		void acknowledge() {
			this.listener.onSubscribed();
		}

		@Override
		public Link link() {
			return (command) -> 0L;
		}

		@Override
		public void listen(byte[] channel, Listener listener) {
			this.listener = listener;
			Patience.await(this.end, "the end of the connection");
		}

		@Override
		public void close() {
			this.end.countDown();
		}

	}

	private final class Commands implements Lane {

		@Override
		public <T> T run(Function<Link, T> step) {
			return step.apply((command) -> ResubscriptionReportsTests.this.subscribers);
		}

		@Override
		public void close() {
		}

	}

}
