package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.redis.internal.Lane;
import io.github.distributedlock.backend.redis.internal.Link;
import io.github.distributedlock.backend.redis.internal.SignalConnector;
import io.github.distributedlock.backend.redis.internal.SignalConnector.SignalConnection;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.tck.Ear;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for the end of a {@link NotificationSubscription} that is connecting meanwhile.
 */
class NotificationSubscriptionEndTests {

	private final CountDownLatch answer = new CountDownLatch(1);

	private final AtomicReference<Thread> connecting = new AtomicReference<>();

	@Test
	void waitsForAConnectionThatIsBeingOpened() {
		NotificationSubscription subscription = begin(Duration.ofSeconds(10));
		Thread closing = new Thread(subscription::close);
		closing.start();
		await().until(() -> closing.getState() == Thread.State.TIMED_WAITING);
		this.answer.countDown();
		await().until(() -> !closing.isAlive());
		assertThat(this.connecting.get().isAlive()).as("the connecting thread still runs").isFalse();
	}

	@Test
	void leavesNoThreadBehindIfTheConnectionIsNeverOpened() {
		NotificationSubscription subscription = begin(Duration.ofMillis(50));
		subscription.close();
		await().until(() -> !this.connecting.get().isAlive());
	}

	private NotificationSubscription begin(Duration timeout) {
		NotificationSubscription subscription = new NotificationSubscription(new Connecting(), "lock-wake:b",
				new Pulse(new Unused(), false, "lock-wake:b", System::nanoTime), timeout, false, new Ear(),
				System::nanoTime);
		new Thread(() -> {
			try {
				subscription.ensureBegun(new byte[0]);
			}
			catch (LockBackendException ex) {
				// Expected, if nothing was opened in time.
			}
		}).start();
		await().until(() -> this.connecting.get() != null);
		return subscription;
	}

	/** A client whose connection is opened when the test says so. */
	private final class Connecting implements SignalConnector {

		@Override
		public SignalConnection open() {
			NotificationSubscriptionEndTests.this.connecting.set(Thread.currentThread());
			try {
				NotificationSubscriptionEndTests.this.answer.await(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			throw new IllegalStateException("not opened");
		}

	}

	/** No command is sent before a connection is opened. */
	private static final class Unused implements Lane {

		@Override
		public <T> T run(Function<Link, T> step) {
			throw new IllegalStateException("not opened");
		}

		@Override
		public void close() {
		}

	}

}
