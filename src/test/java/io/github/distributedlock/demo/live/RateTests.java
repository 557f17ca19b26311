package io.github.distributedlock.demo.live;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RateTests {

	private final Rate rate = new Rate();

	@Test
	void isWhatWasAddedInASecond() {
		assertThat(update(100, 1)).isZero();
		assertThat(update(104, 3)).isEqualTo(2);
		assertThat(update(112, 4)).isEqualTo(4);
	}

	@Test
	void forgetsWhatWasBefore() {
		update(0, 0);
		update(1000, 1);
		assertThat(update(1060, 6)).isEqualTo(12);
		assertThat(update(1060, 60)).as("after a gap").isZero();
	}

	private double update(long count, int seconds) {
		return this.rate.update(count, Duration.ofSeconds(seconds));
	}

}
