package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongSupplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.redis.internal.Lane;
import io.github.distributedlock.backend.redis.internal.Link;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisConnectionFailureException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The numbers that count, of those that a subscription in a cluster should have heard.
 */
class PulseTests {

	private static final byte[] KEY = KeyNames.bytes("lock:{k}");

	private final AtomicLong now = new AtomicLong();

	/** The node's answer to a number that is to be published. */
	private LongSupplier node = () -> 0;

	private final Pulse pulse = new Pulse(new Node(), true, "lock-wake:b", this.now::get);

	@BeforeEach
	void subscribe() {
		this.pulse.subscribed(false);
	}

	@Test
	void aSubscriptionThatHearsNoPublishedNumberIsDead() {
		for (int i = 0; i < 3; i++) {
			assertThat(nextCheck()).as("after " + i).isNull();
		}
		assertThat(nextCheck()).contains("nothing that commands publish arrives");
	}

	@Test
	void aMasterThatStallsSaysNothingOfTheSubscription() {
		this.node = () -> {
			throw new QueryTimeoutException("stalled");
		};
		for (int i = 0; i < 5; i++) {
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(this::nextCheck);
		}
		this.node = () -> 0;
		assertThat(nextCheck()).isNull();
	}

	@Test
	void aMasterThatIsDownSaysNothingOfTheSubscription() {
		this.node = () -> {
			throw new RedisConnectionFailureException("down");
		};
		for (int i = 0; i < 5; i++) {
			assertThat(nextCheck()).isNull();
		}
	}

	@Test
	void numbersThatAreUnderWaySayNothingOfTheSubscription() {
		this.node = () -> {
			// Before this number is answered, three more are published in vain.
			this.node = () -> {
				throw new RedisConnectionFailureException("down");
			};
			for (int i = 0; i < 4; i++) {
				assertThat(nextCheck()).isNull();
			}
			return 0;
		};
		assertThat(nextCheck()).isNull();
	}

	@Test
	void aRefusedNumberCounts() {
		this.node = () -> {
			throw new RedisConnectionFailureException("NOPERM this user has no permissions");
		};
		for (int i = 0; i < 3; i++) {
			assertThat(nextCheck()).as("after " + i).isNull();
		}
		assertThat(nextCheck()).contains("nothing that commands publish arrives");
	}

	private String nextCheck() {
		this.now.addAndGet(Duration.ofSeconds(1).toNanos());
		return this.pulse.check(KEY);
	}

	/** The node of the key, as far as the pulse sees it. */
	private final class Node implements Lane {

		@Override
		public <T> T run(Function<Link, T> step) {
			return step.apply((command) -> PulseTests.this.node.getAsLong());
		}

		@Override
		public void close() {
			// Nothing is open.
		}

	}

}
