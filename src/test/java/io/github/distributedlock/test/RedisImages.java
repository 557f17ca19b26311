package io.github.distributedlock.test;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.utility.DockerImageName;
import redis.clients.jedis.HostAndPort;

/**
 * The images that people run, where there is a Docker engine.
 */
public final class RedisImages implements AutoCloseable {

	private static final List<String> NAMES = List.of("redis:6.2-alpine", "redis:7.0-alpine", "redis:8.0-alpine",
			"redis:8.6-alpine", "valkey/valkey:8.1-alpine", "valkey/valkey:9.1-alpine");

	private static final int PORT = 6379;

	private final List<GenericContainer<?>> containers = new ArrayList<>();

	/**
	 * Whether there is a Docker engine.
	 * @return whether images can be run
	 */
	public static boolean isDockerThere() {
		return DockerClientFactory.instance().isDockerAvailable();
	}

	/**
	 * Starts a server of each image.
	 * @return each strategy that each of them has
	 */
	public Stream<AtomicityCase> start() {
		return NAMES.stream().flatMap((name) -> {
			GenericContainer<?> server = new GenericContainer<>(DockerImageName.parse(name)).withExposedPorts(PORT);
			this.containers.add(server);
			server.start();
			return AtomicityCase.on(name, new HostAndPort(server.getHost(), server.getMappedPort(PORT))).stream();
		});
	}

	@Override
	public void close() {
		this.containers.forEach(GenericContainer::stop);
	}

}
