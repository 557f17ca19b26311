package io.github.distributedlock.faults;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.Variant;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

/**
 * A separate JVM that uses one lock, and writes the history of that lock: how the JVM is
 * started, and what the JVM opens.
 *
 * @param key the key of the lock
 * @param engine the engine of the JVM
 * @param recorder writes the history
 */
record RecordedJvm(String key, LockEngine engine, Recorder recorder) {

	/**
	 * Starts such a JVM.
	 * @param main the main class, which {@linkplain #of opens} what the JVM needs
	 * @param file for the history
	 * @param more arguments behind these
	 */
	static JvmProcess start(Class<?> main, String key, Client client, int port, Path file, String... more) {
		List<String> arguments = new ArrayList<>(List.of(key, client.name(), String.valueOf(port), file.toString()));
		arguments.addAll(List.of(more));
		return JvmProcess.start(main, Map.of(Variant.PROPERTY, Variant.ATOMICITY.name()),
				arguments.toArray(String[]::new));
	}

	static RecordedJvm of(String[] arguments) {
		return of(arguments, Trial.LEASE);
	}

	static RecordedJvm of(String[] arguments, Duration lease) {
		RedisConfiguration server = new RedisStandaloneConfiguration("localhost", Integer.parseInt(arguments[2]));
		RedisLockBackend backend = Client.valueOf(arguments[1]).backend(server, Trial.SETTINGS);
		return new RecordedJvm(arguments[0], LockEngine.builder(backend).watchdogTimeout(lease).build(),
				new Recorder(Path.of(arguments[3])));
	}

}
