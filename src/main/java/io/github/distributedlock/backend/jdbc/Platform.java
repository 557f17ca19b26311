package io.github.distributedlock.backend.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.Objects;

import io.github.distributedlock.LockBackendException;
import org.jspecify.annotations.Nullable;

/**
 * A supported database, with the parts of the statements in which databases differ. In
 * PostgreSQL a key is text, which PostgreSQL compares byte by byte. In other databases a
 * key is binary, since collations ignore case, accents or trailing blanks.
 */
enum Platform {

	POSTGRESQL("(clock_timestamp() at time zone 'UTC')", "(extract(epoch from %s) * 1000000)::bigint",
			"(%s + %s * interval '1 microsecond')", "limit %s", "insert"),

	MYSQL("utc_timestamp(6)", "timestampdiff(microsecond, timestamp '1970-01-01 00:00:00', %s)",
			"timestampadd(microsecond, %2$s, %1$s)", "limit %s", "insert ignore"),

	MARIADB(MYSQL.now, MYSQL.micros, MYSQL.plus, "limit %s", "insert ignore"),

	// Some modes of H2 know no LIMIT. A cast to a timestamp would give the local time.
	H2("dateadd(microsecond, cast(extract(epoch from current_timestamp(6)) * 1000000 as bigint),"
			+ " timestamp '1970-01-01 00:00:00')", "cast(extract(epoch from %s) * 1000000 as bigint)",
			"dateadd(microsecond, %2$s, %1$s)", "fetch first %s rows only", "insert");

	/**
	 * The most bytes of a key that every database can index.
	 */
	static final int LONGEST_KEY = 1000;

	/**
	 * The time by the clock of the database, a timestamp in UTC.
	 */
	final String now;

	private final String micros;

	private final String plus;

	/**
	 * Ends a SELECT after a number of rows. On MySQL and MariaDB, this clause overrides
	 * {@code sql_select_limit}. A {@code %d} would write the digits of the JVM's locale.
	 */
	final String limit;

	/**
	 * Inserts a row that another JVM may have inserted meanwhile. MariaDB's driver logs
	 * each statement that fails, so the server ignores such a row where the server can.
	 */
	final String insert;

	Platform(String now, String micros, String plus, String limit, String insert) {
		this.now = now;
		this.micros = micros;
		this.plus = plus;
		this.limit = limit;
		this.insert = insert;
	}

	/**
	 * Returns the microseconds from 1970 to a time.
	 */
	String micros(String time) {
		return this.micros.formatted(time);
	}

	/**
	 * Returns the time that is some microseconds after another one.
	 */
	String plus(String time, String micros) {
		return this.plus.formatted(time, micros);
	}

	/**
	 * Finds out which database a connection leads to.
	 * @throws LockBackendException if the database is not supported
	 */
	static Platform of(DatabaseMetaData database) throws SQLException {
		String product = database.getDatabaseProductName();
		// MySQL's driver names a MariaDB MySQL, too.
		if (product.equals("MySQL") && database.getDatabaseProductVersion().contains("MariaDB")) {
			return MARIADB;
		}
		for (Platform platform : values()) {
			if (platform.name().equals(product.toUpperCase(Locale.ROOT))) {
				return platform;
			}
		}
		throw LockBackendException.of("Locks cannot be kept in " + product)
			.remedy("use PostgreSQL, MySQL, MariaDB or H2, or locks on Redis")
			.withoutEffect(true)
			.build();
	}

	/**
	 * Returns the isolation in which each statement of the locks is carried out: READ
	 * COMMITTED; REPEATABLE READ where a binary log of statements cannot take READ
	 * COMMITTED.
	 */
	int isolation(Connection connection) throws SQLException {
		if (this == MYSQL || this == MARIADB) {
			try (Statement statement = connection.createStatement();
					ResultSet row = statement.executeQuery("show variables like 'binlog_format'")) {
				if (row.next() && row.getString(2).equals("STATEMENT")) {
					return Connection.TRANSACTION_REPEATABLE_READ;
				}
			}
		}
		return Connection.TRANSACTION_READ_COMMITTED;
	}

	/**
	 * Returns the value that a key is bound as.
	 */
	Object bind(String key) {
		return (this == POSTGRESQL) ? key : key.getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * Returns the key that was bound as a value.
	 */
	String text(Object bound) {
		return (bound instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : bound.toString();
	}

	/**
	 * Returns a query for the database, the server and the mark of the table, as one
	 * text. On MySQL and MariaDB the schema is the database.
	 */
	String place() {
		return switch (this) {
			case POSTGRESQL -> "select current_database() || '|' ||"
					+ " coalesce(host(inet_server_addr()) || ':' || inet_server_port(), 'its own machine') ||"
					+ " to_char(pg_postmaster_start_time() at time zone 'UTC', '\" up since \"YYYY-MM-DD HH24:MI:SS.US')"
					+ " || '|' || {mark}";
			case MYSQL, MARIADB -> "select concat('|', @@hostname, ':', @@port, '|', {mark})";
			case H2 -> "select concat(current_catalog, '|', coalesce(database_path(), 'memory'), '|', {nobody})";
		};
	}

	/**
	 * Returns a query for the schema of the table, quoted; {@code null} where a
	 * connection does not change its schema.
	 */
	@Nullable String schema() {
		return switch (this) {
			case POSTGRESQL ->
				"select relnamespace::regnamespace::text from pg_class where oid = to_regclass('{table}')";
			case MYSQL, MARIADB -> "select concat('`', replace(database(), '`', '``'), '`')";
			case H2 -> null;
		};
	}

	/**
	 * Returns the statement that creates the table.
	 */
	String schema(String table) {
		String name = "schema-" + name().toLowerCase(Locale.ROOT) + ".sql";
		try (InputStream script = Objects.requireNonNull(Platform.class.getResourceAsStream(name), name)) {
			return new String(script.readAllBytes(), StandardCharsets.UTF_8).replace(";", "")
				.strip()
				.replace("distributed_lock", table);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
