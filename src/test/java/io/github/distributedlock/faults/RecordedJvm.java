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
 * A JVM of its own that uses one lock, and writes its history: how it is started, and
 * what it opens there.
 *
 * @param key the key of the lock
 * @param engine its engine
 * @param recorder what it writes its history with
 */
record RecordedJvm(String key, LockEngine engine, Recorder recorder) {

	/**
	 * Starts one.
	 * @param main its main class, which {@linkplain #of opens} what it needs
	 * @param file for its history
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
