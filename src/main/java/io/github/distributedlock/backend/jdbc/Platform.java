package io.github.distributedlock.backend.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Objects;

import io.github.distributedlock.LockBackendException;

/**
 * A database that is supported, and what it does in a way of its own. A key is text in
 * PostgreSQL, which compares it byte by byte; elsewhere it is binary, since collations
 * ignore case, accents or trailing blanks.
 */
enum Platform {

	POSTGRESQL("(extract(epoch from clock_timestamp()) * 1000000)::bigint", "limit %d", "insert"),

	MYSQL("timestampdiff(microsecond, '1970-01-01', utc_timestamp(6))", "limit %d", "insert ignore"),

	MARIADB("timestampdiff(microsecond, '1970-01-01', utc_timestamp(6))", "limit %d", "insert ignore"),

	// Some of its modes know no LIMIT.
	H2("cast(extract(epoch from current_timestamp(6)) * 1000000 as bigint)", "fetch first %d rows only", "insert");

	/**
	 * The clock of the database, in microseconds since 1970 UTC.
	 */
	final String now;

	/**
	 * Ends a SELECT after a number of rows. On MySQL and MariaDB this overrides
	 * {@code sql_select_limit}.
	 */
	final String limit;

	/**
	 * Inserts a row that another JVM may have inserted meanwhile. MariaDB's driver logs
	 * each statement that fails, so such a row is ignored where the server can do that.
	 */
	final String insert;

	Platform(String now, String limit, String insert) {
		this.now = now;
		this.limit = limit;
		this.insert = insert;
	}

	/**
	 * Finds out which database it is.
	 * @throws LockBackendException if it is not supported
	 */
	static Platform of(DatabaseMetaData database) throws SQLException {
		String product = database.getDatabaseProductName();
		// MySQL's driver says MySQL of a MariaDB, too.
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
			.notCarriedOut(true)
			.build();
	}

	/**
	 * What a key is bound as.
	 */
	Object bind(String key) {
		return (this == POSTGRESQL) ? key : key.getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * The key that was bound as that.
	 */
	String text(Object bound) {
		return (bound instanceof byte[] bytes) ? new String(bytes, StandardCharsets.UTF_8) : bound.toString();
	}

	/**
	 * The statement that creates the table.
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
