package io.github.distributedlock.benchmark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.github.distributedlock.backend.jdbc.MariaDb;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * A server of MariaDB, as safe as an installed one is, with the tables of all
 * contestants. A statement counts as a command and as a request.
 */
final class MariaDbStore implements Store {

	private static final List<String> SCHEMAS = List.of("io/github/distributedlock/backend/jdbc/schema-mariadb.sql",
			"org/springframework/integration/jdbc/schema-mysql.sql");

	private final MariaDb server = new MariaDb("--innodb-flush-log-at-trx-commit=1", "--max-connections=600");

	private final SingleConnectionDataSource connection;

	private final JdbcTemplate admin;

	private final ProcessHandle process;

	MariaDbStore() {
		this.connection = new SingleConnectionDataSource(Connections.mariaDbUrl(port()), true);
		this.admin = new JdbcTemplate(this.connection);
		try {
			String pid = Files.readString(Path.of(this.admin.queryForObject("select @@pid_file", String.class)));
			this.process = ProcessHandle.of(Long.parseLong(pid.strip())).orElseThrow();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		SCHEMAS
			.forEach((script) -> new ResourceDatabasePopulator(new ClassPathResource(script)).execute(this.connection));
		this.admin.execute(ShedLocks.TABLE);
		this.admin.execute(RawJdbcLocks.TABLE.formatted("datetime(6)"));
	}

	@Override
	public int port() {
		return this.server.port();
	}

	/**
	 * Rows stay, since ShedLock knows which rows it has inserted.
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
		this.connection.destroy();
		this.server.close();
	}

}
