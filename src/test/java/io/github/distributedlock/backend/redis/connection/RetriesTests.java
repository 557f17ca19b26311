package io.github.distributedlock.backend.redis.connection;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for when a subscription is tried again.
 */
class RetriesTests {

	private long now;

	private final WakeSubscription.Retries retries = new WakeSubscription.Retries(() -> this.now);

	@Test
	void whatMayPassIsTriedEachSecond() {
		assertThat(pauses(false, 6)).containsExactly(100L, 200L, 400L, 800L, 1_000L, 1_000L);
		this.retries.lost();
		assertThat(left()).isEqualTo(100);
		assertThat(pauses(false, 2)).containsExactly(200L, 400L);
	}

	@Test
	void aRefusalIsTriedAfterASecondAndThenLessOften() {
		assertThat(pauses(false, 5)).endsWith(1_000L);
		assertThat(pauses(true, 7)).containsExactly(1_000L, 2_000L, 4_000L, 8_000L, 16_000L, 30_000L, 30_000L);
		assertThat(pauses(false, 2)).containsExactly(100L, 200L);
		assertThat(pauses(true, 1)).containsExactly(1_000L);
	}

	@Test
	void whatIsAnsweredAgainBeginsAnewAndShortensThePauseThatHasBegun() {
		assertThat(pauses(true, 6)).endsWith(30_000L);
		this.retries.failed(true);
		this.now += TimeUnit.MILLISECONDS.toNanos(400);
		this.retries.restart();
		assertThat(left()).as("a second after the last try").isEqualTo(600);
		assertThat(pauses(true, 3)).containsExactly(2_000L, 4_000L, 8_000L);
	}

	private List<Long> pauses(boolean refused, int failures) {
		List<Long> pauses = new ArrayList<>();
		for (int i = 0; i < failures; i++) {
			this.retries.failed(refused);
			pauses.add(left());
			this.now += this.retries.nanosLeft();
		}
		return pauses;
	}

	private long left() {
		return TimeUnit.NANOSECONDS.toMillis(this.retries.nanosLeft());
	}

}
