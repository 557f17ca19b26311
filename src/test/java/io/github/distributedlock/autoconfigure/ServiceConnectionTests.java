package io.github.distributedlock.autoconfigure;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.fixtures.NoDatabase;
import io.github.distributedlock.fixtures.TestRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Locks are kept in the container of a test that has a {@link ServiceConnection}.
 */
@SpringBootTest(classes = NoDatabase.class, webEnvironment = WebEnvironment.NONE, properties = {
		"spring.data.redis.port=1", "distributed-lock.redis.command-timeout=10s", "distributed-lock.wait-time=5m" })
class ServiceConnectionTests {

	@RegisterExtension
	static final TestRedis redis = new TestRedis();

	@ServiceConnection
	static final GenericContainer<?> container = new WithoutDocker();

	@Test
	void locksAreInTheContainer(@Autowired DistributedLock lock) {
		try (LockHandle handle = lock.acquire("k")) {
			assertThat(redis.admin().get("lock:{k}")).isEqualTo(handle.owner());
		}
	}

	/**
	 * A real Redis, though not in a container: Spring Boot starts the container, and asks
	 * only for the address.
	 */
	private static final class WithoutDocker extends GenericContainer<WithoutDocker> {

		private static final String IMAGE = "redis:latest";

		private WithoutDocker() {
			super(DockerImageName.parse(IMAGE));
		}

		@Override
		public String getDockerImageName() {
			return IMAGE;
		}

		@Override
		public void start() {
		}

		@Override
		public String getHost() {
			return "localhost";
		}

		@Override
		public Integer getMappedPort(int port) {
			return redis.port();
		}

	}

}
