package io.github.distributedlock.backend.redis;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackendContractTests;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.condition.EnabledIf;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

/**
 * The contract on the images that people run, where there is a Docker engine.
 */
@EnabledIf(value = "isDockerThere", disabledReason = "there is no Docker engine")
class ContainerContractTests extends LockBackendContractTests {

	private static final int PORT = 6379;

	private final Map<String, GenericContainer<?>> containers = new ConcurrentHashMap<>();

	static boolean isDockerThere() {
		return DockerClientFactory.instance().isDockerAvailable();
	}

	@Override
	protected Stream<String> stores() {
		return Stream.of("redis:8-alpine", "valkey/valkey:8-alpine");
	}

	@Override
	protected LockBackend backend(String store) {
		GenericContainer<?> server = this.containers.computeIfAbsent(store, ContainerContractTests::start);
		return new RedisLockBackend(
				Factories.JEDIS.to(new RedisStandaloneConfiguration(server.getHost(), server.getMappedPort(PORT))));
	}

	@SuppressWarnings("resource") // Stopped after all tests.
	private static GenericContainer<?> start(String image) {
		GenericContainer<?> server = new GenericContainer<>(DockerImageName.parse(image)).withExposedPorts(PORT);
		server.start();
		return server;
	}

	@AfterAll
	void stopServers() {
		this.containers.values().forEach(GenericContainer::stop);
	}

}
