package io.github.distributedlock.benchmark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

import io.github.distributedlock.backend.jdbc.MariaDb;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A server of MariaDB, as safe as an installed one is, with the tables of all
 * contestants. A statement counts as a command and as a request.
 */
final class MariaDbStore implements Store {

	private final MariaDb server = new MariaDb("--innodb-flush-log-at-trx-commit=1", "--max-connections=600");

	private final JdbcTemplate admin;

	private final ProcessHandle process;

	MariaDbStore() {
		this.admin = Connections.withTables(Connections.mariaDbUrl(port()), "datetime(6)",
				"io/github/distributedlock/backend/jdbc/schema-mariadb.sql",
				"org/springframework/integration/jdbc/schema-mysql.sql");
		try {
			String pid = Files.readString(Path.of(this.admin.queryForObject("select @@pid_file", String.class)));
			this.process = ProcessHandle.of(Long.parseLong(pid.strip())).orElseThrow();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public int port() {
		return this.server.port();
	}

	/**
	 * Rows stay, since ShedLock remembers the inserted rows.
	 */
	@Override
	public void flush() {
		this.admin.execute("flush tables");
	}

	@Override
	public ServerLoad load() {
		Map<String, Object> load = this.admin.queryForMap("show global status like 'Questions'");
		long statements = Long.parseLong(load.get("Value").toString());
		Duration cpu = this.process.info().totalCpuDuration().orElse(Duration.ZERO);
		return new ServerLoad(statements, statements, cpu.toNanos() / 1e9);
	}

	@Override
	public String version() {
		return "MariaDB " + this.admin.queryForObject("select version()", String.class);
	}

	@Override
	public void close() {
		this.server.close();
	}

}
