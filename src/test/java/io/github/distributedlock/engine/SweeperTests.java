package io.github.distributedlock.engine;

import java.time.Duration;

import io.github.distributedlock.backend.Claim;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The number of releases that are left for later is bounded, and so is the log of those
 * beyond.
 */
@ExtendWith(OutputCaptureExtension.class)
class SweeperTests extends EngineFixture {

	private final Sweeper sweeper = new Sweeper(this.backend, this.time, this.time);

	@Test
	void warnsOnceForEachBurstThatItCannotTake(CapturedOutput output) {
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		forget(10_003);
		this.time.advance(Duration.ofSeconds(3)); // Each sweep tries one, and takes it up
													// again.
		forget(2);
		assertThat(output.getOut().split("may stay in the store", -1)).as("a burst").hasSize(2);
		this.backend.works();
		this.time.advance(Duration.ofSeconds(3));
		forget(1);
		assertThat(this.backend.steps()).last().as("there is room again").isEqualTo("release k0");
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		forget(10_001);
		assertThat(output.getOut().split("may stay in the store", -1)).as("another burst").hasSize(3);
	}

	private void forget(int keys) {
		for (int i = 0; i < keys; i++) {
			this.sweeper.forget(Claim.of("k" + i, "us#1:" + i, "us#1", LEASE));
		}
		this.time.advance(Duration.ZERO);
	}

}
