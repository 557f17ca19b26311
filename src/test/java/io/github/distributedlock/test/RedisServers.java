package io.github.distributedlock.test;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import redis.clients.jedis.Jedis;
import redis.embedded.RedisServer;
import redis.embedded.core.ExecutableProvider;

/**
 * Starts Redis servers. {@code -Dlock.redis.servers=NAME=EXECUTABLE,...} adds servers of
 * other versions to the one that comes with the tests.
 */
public final class RedisServers {

	/** The server that comes with the tests. */
	public static final String EMBEDDED = "embedded";

	private static final Map<String, String> EXECUTABLES = executables();

	private static final Map<String, Server> SHARED = new ConcurrentHashMap<>();

	private RedisServers() {
	}

	private static Map<String, String> executables() {
		Map<String, String> executables = new LinkedHashMap<>();
		executables.put(EMBEDDED, "");
		for (String server : System.getProperty("lock.redis.servers", "").split(",")) {
			int equals = server.indexOf('=');
			if (equals > 0) {
				executables.put(server.substring(0, equals).strip(), server.substring(equals + 1).strip());
			}
		}
		return executables;
	}

	/**
	 * The names of all servers to test on.
	 * @return the embedded one first
	 */
	public static Stream<String> names() {
		return EXECUTABLES.keySet().stream();
	}

	/**
	 * The server of that name that all tests of this JVM share; started when first asked
	 * for, stopped with the JVM.
	 * @param name one of {@link #names()}
	 * @return the server
	 */
	public static Server shared(String name) {
		return SHARED.computeIfAbsent(name, RedisServers::start);
	}

	/**
	 * Starts another server, for one test to do with as it likes.
	 * @param name one of {@link #names()}
	 * @param settings more lines for the configuration
	 * @return the server, to be closed
	 */
	public static Server start(String name, String... settings) {
		Server server = new Server(name, freePort(), settings);
		server.start();
		return server;
	}

	private static int freePort() {
		try (ServerSocket socket = new ServerSocket(0)) {
			return socket.getLocalPort();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** A server on a port of its own. */
	public static final class Server implements AutoCloseable {

		private final int port;

		private final RedisServer process;

		private Server(String name, int port, String... settings) {
			this.port = port;
			try {
				List<String> lines = new ArrayList<>(List.of("save \"\"", "appendonly no"));
				lines.addAll(List.of(settings));
				var builder = RedisServer.newRedisServer().port(port);
				lines.forEach(builder::setting);
				String executable = EXECUTABLES.get(name);
				if (!executable.isEmpty()) {
					ExecutableProvider provider = () -> new File(executable);
					builder.executableProvider(provider);
				}
				this.process = builder.build();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		public int port() {
			return this.port;
		}

		/**
		 * A connection for a test to look at the server with, or to change it.
		 * @return the connection, to be closed
		 */
		public Jedis admin() {
			return new Jedis("localhost", this.port, 10_000);
		}

		public void start() {
			try {
				this.process.start();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		public void stop() {
			try {
				this.process.stop();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

		@Override
		public void close() {
			stop();
		}

	}

}
