package io.github.distributedlock.test;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

import org.opentest4j.TestAbortedException;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.ContainerFetchException;
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

	private final Function<DockerImageName, GenericContainer<?>> make;

	private final List<GenericContainer<?>> containers = new ArrayList<>();

	public RedisImages() {
		this((image) -> new GenericContainer<>(image));
	}

	RedisImages(Function<DockerImageName, GenericContainer<?>> make) {
		this.make = make;
	}

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
	 * @throws TestAbortedException if an image cannot be had, which says nothing about us
	 */
	public Stream<AtomicityCase> start() {
		return NAMES.stream().flatMap((name) -> {
			GenericContainer<?> server = this.make.apply(DockerImageName.parse(name)).withExposedPorts(PORT);
			this.containers.add(server);
			pull(server, name);
			server.start();
			return AtomicityCase.on(name, new HostAndPort(server.getHost(), server.getMappedPort(PORT))).stream();
		});
	}

	private static void pull(GenericContainer<?> server, String name) {
		try {
			server.getDockerImageName();
		}
		catch (ContainerFetchException ex) {
			throw new TestAbortedException("there is a Docker engine, but the image " + name + " cannot be had", ex);
		}
	}

	@Override
	public void close() {
		this.containers.forEach(GenericContainer::stop);
	}

}
