package io.github.distributedlock.test;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;
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
	 * Whether a server was built with TLS.
	 * @param name one of {@link #names()}
	 * @param certificate a certificate to try it with
	 * @return whether it starts with it
	 */
	public static boolean knowsTls(String name, SelfSigned certificate) {
		try (Server server = start(name, Access.OPEN.encrypted(certificate), List.of())) {
			return true;
		}
		catch (IllegalStateException ex) {
			return false; // It has ended.
		}
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
		return start(name, Site.HERE, settings);
	}

	/**
	 * Starts another server somewhere.
	 * @param name one of {@link #names()}
	 * @param site where it is to run
	 * @param settings more lines for the configuration
	 * @return the server, to be closed
	 */
	public static Server start(String name, Site site, String... settings) {
		return start(name, site, Access.OPEN, List.of(settings));
	}

	/**
	 * Starts another server that is not open to everybody.
	 * @param name one of {@link #names()}
	 * @param access who may talk to it
	 * @param settings more lines for the configuration
	 * @return the server, to be closed
	 */
	public static Server start(String name, Access access, List<String> settings) {
		return start(name, Site.HERE, access, settings);
	}

	private static Server start(String name, Site site, Access access, List<String> settings) {
		List<String> all = new ArrayList<>(List.of("save \"\"", "appendonly no"));
		all.addAll(access.replication());
		all.addAll(settings);
		return started(new Server(site, Ports.next(), access, executable(name), all));
	}

	/**
	 * Starts a Sentinel.
	 * @param name one of {@link #names()}
	 * @param access who may talk to it
	 * @param settings its configuration
	 * @return the Sentinel, to be closed
	 */
	static Server sentinel(String name, Access access, List<String> settings) {
		List<String> all = new ArrayList<>(access.talking());
		all.addAll(settings);
		return started(new Server(Site.HERE, Ports.next(), access, executable(name), all, "--sentinel"));
	}

	private static Server started(Server server) {
		try {
			server.start();
			return server;
		}
		catch (RuntimeException | Error ex) {
			server.close();
			throw ex;
		}
	}

	private static synchronized File executable(String name) {
		String executable = EXECUTABLES.get(name);
		if (executable.isEmpty()) {
			try {
				// Unpacked once; removed with the JVM.
				executable = ExecutableProvider.newJarResourceProvider().get().getAbsolutePath();
				EXECUTABLES.put(name, executable);
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
		return new File(executable);
	}

	/**
	 * A server on a port of its own, with a directory of its own that outlasts a restart.
	 */
	public static final class Server implements AutoCloseable {

		private static final int QUICK = 1_000;

		private static final int PATIENT = 10_000;

		private final String host;

		private final int port;

		private final Access access;

		private final RedisProcess process;

		private Server(Site site, int port, Access access, File executable, List<String> settings, String... options) {
			this.host = site.host();
			this.port = port;
			this.access = access;
			List<String> configuration = new ArrayList<>(List.of("bind " + this.host));
			configuration.addAll(access.settings(port));
			configuration.addAll(settings);
			this.process = new RedisProcess(site.command(), executable, configuration, options);
		}

		public String host() {
			return this.host;
		}

		public int port() {
			return this.port;
		}

		/**
		 * The id of its process; of the last one if it is down.
		 * @return the id
		 */
		public long pid() {
			return this.process.pid();
		}

		/**
		 * A connection for a test to look at the server with, or to change it.
		 * @return the connection, to be closed
		 */
		public Jedis admin() {
			return connect(PATIENT);
		}

		/**
		 * Starts it, also again: on the same port with the same settings. What it has
		 * saved it finds again, which by default is nothing.
		 */
		public void start() {
			this.process.start(this::answers);
		}

		/**
		 * Ends it in order (SIGTERM).
		 */
		public void stop() {
			this.process.stop();
		}

		/**
		 * Ends it on the spot (SIGKILL).
		 */
		public void kill() {
			this.process.kill();
		}

		/**
		 * Stops all of its threads until {@link #resume()} (SIGSTOP). Connections to it
		 * stay, and can still be opened.
		 */
		public void pause() {
			Signals.pause(pid());
		}

		/**
		 * Lets it go on (SIGCONT).
		 */
		public void resume() {
			Signals.resume(pid());
		}

		@Override
		public void close() {
			this.process.delete();
		}

		private Jedis connect(int timeoutMillis) {
			return new Jedis(new HostAndPort(this.host, this.port), this.access.admin(timeoutMillis));
		}

		@Override
		public String toString() {
			return this.host + ":" + this.port;
		}

		private boolean answers() {
			try (Jedis jedis = connect(QUICK)) {
				jedis.ping();
				return true;
			}
			catch (JedisConnectionException ex) {
				return false;
			}
			catch (JedisDataException ex) {
				// Any other refusal is an answer.
				return !String.valueOf(ex.getMessage()).startsWith("LOADING");
			}
		}

	}

}
