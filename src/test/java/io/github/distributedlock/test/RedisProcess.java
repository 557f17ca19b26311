package io.github.distributedlock.test;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import org.awaitility.Awaitility;

/**
 * A server's process, which can be ended and started again in the same directory with the
 * same configuration. It ends at the latest with the JVM of the test.
 */
final class RedisProcess {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final Duration LAST_WORDS = Duration.ofSeconds(3);

	private static final Set<RedisProcess> KEPT = ConcurrentHashMap.newKeySet();

	static {
		Runtime.getRuntime()
			.addShutdownHook(new Thread(() -> KEPT.forEach(RedisProcess::delete), "redis-process-reaper"));
	}

	private final Path directory;

	private final Path log;

	private final ProcessBuilder builder;

	private volatile Process process;

	RedisProcess(List<String> command, File executable, List<String> configuration, String... options) {
		try {
			this.directory = Files.createTempDirectory("lock-redis");
			this.log = this.directory.resolve("server.log");
			Path file = Files.write(this.directory.resolve("server.conf"), configuration);
			this.builder = new ProcessBuilder(new ArrayList<>(command));
			this.builder.command().addAll(List.of(executable.toString(), file.toString()));
			this.builder.command().addAll(List.of(options));
			this.builder.directory(this.directory.toFile())
				.redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.appendTo(this.log.toFile()));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		KEPT.add(this);
	}

	/**
	 * Starts it and waits until it answers.
	 * @param answers whether it does
	 */
	void start(BooleanSupplier answers) {
		if (isAlive()) {
			throw new IllegalStateException("The server runs already");
		}
		try {
			this.process = this.builder.start();
			Awaitility.await()
				.pollInSameThread()
				.pollInterval(Duration.ofMillis(20))
				.atMost(PATIENCE)
				.until(() -> !isAlive() || answers.getAsBoolean());
			if (!isAlive()) {
				throw new IllegalStateException("The server has ended; it said:\n" + Files.readString(this.log));
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	boolean isAlive() {
		return this.process != null && this.process.isAlive();
	}

	long pid() {
		return this.process.pid();
	}

	/**
	 * Lets it end in order, if it can.
	 */
	void stop() {
		if (isAlive()) {
			Signals.resume(pid()); // It may be paused, and once told to end it may be
									// gone.
			this.process.destroy();
			if (!ends(LAST_WORDS)) {
				kill();
			}
		}
	}

	/**
	 * Ends it on the spot (SIGKILL).
	 */
	void kill() {
		if (isAlive()) {
			this.process.destroyForcibly();
			if (!ends(PATIENCE)) {
				throw new IllegalStateException("Server " + pid() + " does not end");
			}
		}
	}

	/**
	 * Ends it for good and removes what it has written.
	 */
	void delete() {
		kill();
		delete(this.directory.toFile());
		KEPT.remove(this);
	}

	private static void delete(File file) {
		File[] inside = file.listFiles();
		if (inside != null) {
			List.of(inside).forEach(RedisProcess::delete);
		}
		file.delete();
	}

	private boolean ends(Duration timeout) {
		try {
			return this.process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while server " + pid() + " was ending", ex);
		}
	}

}
