package io.github.distributedlock.benchmark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A server of PostgreSQL, as safe as an installed one is, with the tables of all
 * contestants. A statement counts as a command and as a request.
 */
final class PostgresStore implements Store {

	private final EmbeddedPostgres server;

	private final JdbcTemplate admin;

	PostgresStore() {
		try {
			this.server = EmbeddedPostgres.builder()
				.setServerConfig("fsync", "on")
				.setServerConfig("synchronous_commit", "on") // Off by default here.
				.setServerConfig("max_connections", "600")
				.setServerConfig("shared_preload_libraries", "pg_stat_statements")
				.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.admin = Connections.withTables(Connections.postgresUrl(port()), "timestamptz",
				"io/github/distributedlock/backend/jdbc/schema-postgresql.sql",
				"org/springframework/integration/jdbc/schema-postgresql.sql");
		this.admin.execute("create extension pg_stat_statements");
	}

	@Override
	public int port() {
		return this.server.getPort();
	}

	/**
	 * Rows stay, since ShedLock remembers the inserted rows. What was written is on the
	 * disk, and versions of rows that nobody needs are removed.
	 */
	@Override
	public void flush() {
		this.admin.execute("vacuum");
		this.admin.execute("checkpoint");
	}

	@Override
	public ServerLoad load() {
		Map<String, Object> load = this.admin.queryForMap("select sum(calls)::bigint as statements,"
				+ " (select string_agg(pid::text, ' ') from pg_stat_activity) as processes from pg_stat_statements");
		long statements = (long) load.get("statements");
		Duration cpu = Stream.of(load.get("processes").toString().split(" "))
			.flatMap((pid) -> ProcessHandle.of(Long.parseLong(pid)).stream())
			.flatMap((process) -> process.info().totalCpuDuration().stream())
			.reduce(Duration.ZERO, Duration::plus);
		return new ServerLoad(statements, statements, cpu.toNanos() / 1e9);
	}

	@Override
	public String version() {
		return "PostgreSQL " + this.admin.queryForObject("show server_version", String.class);
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

}
