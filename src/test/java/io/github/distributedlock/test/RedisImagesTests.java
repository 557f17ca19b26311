package io.github.distributedlock.test;

import org.junit.jupiter.api.Test;
import org.opentest4j.TestAbortedException;
import org.testcontainers.containers.ContainerFetchException;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link RedisImages}.
 */
class RedisImagesTests {

	@Test
	void anImageThatCannotBeHadSkipsTheTestAndSaysSo() {
		try (RedisImages images = new RedisImages(Missing::new)) {
			assertThatExceptionOfType(TestAbortedException.class).isThrownBy(() -> images.start().toList())
				.withMessageContaining("redis:6.2-alpine")
				.withMessageContaining("cannot be had");
		}
	}

	private static final class Missing extends GenericContainer<Missing> {

		private Missing(DockerImageName image) {
			super(image);
		}

		@Override
		public String getDockerImageName() {
			throw new ContainerFetchException("Can't get Docker image");
		}

	}

}
