package io.github.distributedlock.multijvm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.fixtures.RedisImages;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * JVMs that exclude each other on the images that people run, by each candidate that they
 * have.
 */
@Tag("thorough")
@EnabledIf(value = "io.github.distributedlock.fixtures.RedisImages#isDockerThere",
		disabledReason = "there is no Docker engine")
class ContainerExclusionTests {

	@Test
	@Timeout(value = 10, unit = TimeUnit.MINUTES) // Images may have to be pulled.
	void eachCandidateExcludes(@TempDir Path directory) {
		try (RedisImages images = new RedisImages(); Contest contest = new Contest(directory)) {
			images.start()
				.forEach((one) -> assertThat(contest.run(Duration.ofSeconds(1), List.of(one)))
					.as("increments by JVM, %s", one)
					.allMatch((count) -> count > 0));
		}
	}

}
