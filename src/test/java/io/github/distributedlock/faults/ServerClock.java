package io.github.distributedlock.faults;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;

import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.Site;
import io.github.distributedlock.fixtures.Variant;
import redis.clients.jedis.Jedis;

import org.springframework.util.FileSystemUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * The wall clock of a server, which can be set. Needs a C compiler, {@code cc}, and a
 * server that is linked dynamically: where that is not so, the test is skipped.
 */
final class ServerClock implements AutoCloseable {

	private static final Duration TRY = Duration.ofHours(1);

	private final Path directory;

	private final Path ahead;

	private ServerClock(Path directory) throws IOException {
		this.directory = directory;
		this.ahead = Files.write(directory.resolve("ahead"), new byte[Long.BYTES]);
	}

	static ServerClock make() throws Exception {
		ServerClock clock = new ServerClock(Files.createTempDirectory("server-clock"));
		try {
			clock.compile();
			return clock;
		}
		catch (Exception | Error ex) {
			clock.close();
			throw ex;
		}
	}

	private void compile() throws IOException, InterruptedException {
		try (InputStream source = getClass().getResourceAsStream("clock.c")) {
			Files.copy(source, this.directory.resolve("clock.c"));
		}
		Process compiler;
		try {
			compiler = new ProcessBuilder("cc", "-shared", "-fPIC", "-o", "clock.so", "clock.c")
				.directory(this.directory.toFile())
				.inheritIO()
				.start();
		}
		catch (IOException ex) {
			assumeThat(ex).as("there is no C compiler").isNull();
			throw ex;
		}
		assertThat(Patience.waitFor(compiler)).as("exit status of cc").isZero();
	}

	/** Starts a server that goes by this clock. */
	RedisServers.Server start() {
		Site site = new Site("127.0.0.1",
				List.of("env", "LD_PRELOAD=" + this.directory.resolve("clock.so"), "SERVER_CLOCK=" + this.ahead));
		RedisServers.Server server = RedisServers.start(Variant.SERVER, site);
		set(TRY);
		long seconds = seconds(server) - System.currentTimeMillis() / 1000;
		set(Duration.ZERO);
		if (seconds < TRY.toSeconds() / 2) {
			server.close();
		}
		assumeThat(seconds).as("seconds by which the server can be set ahead").isGreaterThan(TRY.toSeconds() / 2);
		return server;
	}

	private static long seconds(RedisServers.Server server) {
		try (Jedis admin = server.admin()) {
			return Long.parseLong(admin.time().get(0));
		}
	}

	/**
	 * Sets the server's clock.
	 * @param ahead by how much the clock is to be ahead of the machine's; may be negative
	 */
	void set(Duration ahead) {
		byte[] seconds = ByteBuffer.allocate(Long.BYTES)
			.order(ByteOrder.nativeOrder())
			.putLong(ahead.toSeconds())
			.array();
		try (var file = Files.newByteChannel(this.ahead, StandardOpenOption.WRITE)) {
			file.write(ByteBuffer.wrap(seconds));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() throws IOException {
		FileSystemUtils.deleteRecursively(this.directory);
	}

}
