package io.github.distributedlock.backend.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.Ports;
import org.awaitility.Awaitility;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A server of PostgreSQL, as safe as an installed one is.
 */
public final class Postgres implements AutoCloseable {

	public final EmbeddedPostgres server;

	/**
	 * Returns the server that the tests of this JVM share, each with tables of its own.
	 * The server starts at first use, ends with the JVM, and need not survive a crash.
	 */
	public static EmbeddedPostgres shared() {
		return Shared.POSTGRES.server;
	}

	/**
	 * Starts a server that survives a crash.
	 */
	public Postgres() {
		this("on");
	}

	/**
	 * Starts a server.
	 * @param durable what the settings are that make a commit survive a crash
	 */
	Postgres(String durable) {
		try {
			this.server = EmbeddedPostgres.builder()
				// The default is a port that a client may get before the server listens.
				.setPort(Ports.next())
				.setPGStartupWait(Patience.PATIENCE)
				.setServerConfig("fsync", durable)
				.setServerConfig("full_page_writes", durable)
				.setServerConfig("synchronous_commit", durable) // Off by default here.
				.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	HikariDataSource pool() {
		return pool(this.server);
	}

	static HikariDataSource pool(EmbeddedPostgres server) {
		HikariConfig config = new HikariConfig();
		config.setDataSource(server.getPostgresDatabase());
		config.setMaximumPoolSize(60);
		config.setMinimumIdle(1);
		return new HikariDataSource(config);
	}

	public int port() {
		return this.server.getPort();
	}

	public String url() {
		return this.server.getJdbcUrl("postgres", "postgres");
	}

	public void createTable() {
		new JdbcTemplate(this.server.getPostgresDatabase()).execute(Platform.POSTGRESQL.schema("distributed_lock"));
	}

	/**
	 * Ends all sessions but the one that does this, whatever they do.
	 */
	public void endSessions() {
		new JdbcTemplate(this.server.getPostgresDatabase())
			.queryForList("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()"
					+ " and backend_type = 'client backend'");
	}

	/**
	 * Locks the table of the locks.
	 * @return ends that
	 */
	public Runnable lockTable() {
		return lockTable(this.server);
	}

	static Runnable lockTable(EmbeddedPostgres server) {
		try {
			Connection connection = server.getPostgresDatabase().getConnection();
			connection.setAutoCommit(false);
			connection.createStatement().execute("lock table distributed_lock in access exclusive mode");
			return () -> {
				try {
					connection.close();
				}
				catch (SQLException ex) {
					throw new IllegalStateException(ex);
				}
			};
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/**
	 * Kills the server with all its processes, as a loss of power does, and starts the
	 * server again with the same arguments.
	 */
	public void killAndRestart() {
		ProcessHandle postmaster = ProcessHandle.of(pid()).orElseThrow();
		List<String> command = new ArrayList<>();
		if (System.getProperty("user.name").equals("root")) {
			command.addAll(List.of("unshare", "-U")); // PostgreSQL refuses
														// to run as root.
		}
		command.add(postmaster.info().command().orElseThrow());
		command.addAll(List.of(postmaster.info().arguments().orElseThrow()));
		List<ProcessHandle> others = postmaster.descendants().toList();
		postmaster.destroyForcibly();
		others.forEach(ProcessHandle::destroyForcibly);
		ProcessBuilder server = new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD);
		AtomicReference<Process> started = new AtomicReference<>();
		Awaitility.await().ignoreExceptions().until(() -> {
			// The server refuses to start while one of the others has not ended.
			if (started.get() == null || !started.get().isAlive()) {
				started.set(server.start());
			}
			try (Connection connection = this.server.getPostgresDatabase().getConnection()) {
				return connection.isValid(1);
			}
		});
	}

	private long pid() {
		String directory = new JdbcTemplate(this.server.getPostgresDatabase()).queryForObject("show data_directory",
				String.class);
		try (Stream<String> lines = Files.lines(Path.of(directory, "postmaster.pid"))) {
			return Long.parseLong(lines.findFirst().orElseThrow());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		try {
			this.server.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static final class Shared {

		private static final Postgres POSTGRES = new Postgres("off");

	}

}
