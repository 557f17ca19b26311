package io.github.distributedlock.autoconfigure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.autoconfigure.DistributedLockProperties.Jdbc;
import io.github.distributedlock.backend.jdbc.JdbcLockBackend;
import io.github.distributedlock.backend.jdbc.JdbcLockSettings;

import org.springframework.boot.jdbc.init.DataSourceScriptDatabaseInitializer;
import org.springframework.boot.jdbc.init.PlatformPlaceholderDatabaseDriverResolver;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.sql.init.DatabaseInitializationSettings;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.DatabasePopulatorUtils;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.jdbc.datasource.init.ScriptException;

import static io.github.distributedlock.autoconfigure.DistributedLockProperties.checked;

/**
 * Creates the table of the locks by the script of its platform. If there is no script for
 * a database, the store refuses that database by name.
 */
final class TableInitializer extends DataSourceScriptDatabaseInitializer {

	private static final String SCRIPT = "classpath:io/github/distributedlock/backend/jdbc/schema-%s.sql";

	/**
	 * Number of attempts to create the table. If several JVMs create the table at the
	 * same time, PostgreSQL refuses all but one of them, and knows the table at the next
	 * attempt.
	 */
	private static final int ATTEMPTS = 3;

	private final String table;

	TableInitializer(DataSource dataSource, Jdbc jdbc) {
		super(dataSource, settings(jdbc));
		this.table = checked("jdbc.table", jdbc.table(), JdbcLockSettings.defaults()::table).table();
	}

	private static DatabaseInitializationSettings settings(Jdbc jdbc) {
		DatabaseInitializationSettings settings = new DatabaseInitializationSettings();
		settings.setMode(DatabaseInitializationMode.valueOf(jdbc.initializeSchema().name()));
		settings.setSchemaLocations(Stream.of("h2", "mariadb", "mysql", "postgresql").map(SCRIPT::formatted).toList());
		return settings;
	}

	@Override
	protected void runScripts(Scripts scripts) {
		try {
			runOne(scripts);
		}
		catch (RuntimeException ex) {
			if (LockException.causes(ex).stream().anyMatch(CannotGetJdbcConnectionException.class::isInstance)) {
				requireConnection();
			}
			throw ex;
		}
	}

	private void runOne(Scripts scripts) {
		String name = new PlatformPlaceholderDatabaseDriverResolver()
			.resolveAll(getDataSource(), "schema-@@platform@@.sql")
			.get(0);
		for (Resource script : scripts) {
			if (name.equals(script.getFilename())) {
				run(script);
			}
		}
	}

	private void run(Resource script) {
		String statement;
		int dot = this.table.indexOf('.');
		String schema = (dot >= 0) ? "create schema if not exists " + this.table.substring(0, dot) + ";\n" : "";
		try {
			statement = script.getContentAsString(StandardCharsets.UTF_8).replace("distributed_lock", this.table);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		ResourceDatabasePopulator populator = new ResourceDatabasePopulator(
				new ByteArrayResource(statement.getBytes(StandardCharsets.UTF_8)));
		for (int attempt = 1;; attempt++) {
			try {
				DatabasePopulatorUtils.execute(populator, getDataSource());
				return;
			}
			catch (ScriptException ex) {
				if (isThere()) {
					return;
				}
				if (attempt == ATTEMPTS) {
					throw LockBackendException
						.of("The table of the locks cannot be created: "
								+ NestedExceptionUtils.getMostSpecificCause(ex).getMessage())
						.remedy("run this statement as a user that may, and set"
								+ " distributed-lock.jdbc.initialize-schema=never:\n" + schema + statement)
						.withoutEffect(true)
						.cause(ex)
						.build();
				}
			}
		}
	}

	/**
	 * Lets the store report why there is no connection, and the remedy.
	 */
	private void requireConnection() {
		try (JdbcLockBackend store = new JdbcLockBackend(
				DataSourceLayers.withoutTransactions(Objects.requireNonNull(getDataSource())),
				JdbcLockSettings.defaults().table(this.table))) {
			store.check();
		}
	}

	/**
	 * Returns whether the table exists. A user without the right to create is refused
	 * also if there is nothing to create.
	 */
	private boolean isThere() {
		try {
			new JdbcTemplate(getDataSource()).execute("select 1 from " + this.table + " where 1 = 0");
			return true;
		}
		catch (DataAccessException ex) {
			return false;
		}
	}

}
