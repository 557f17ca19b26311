package io.github.distributedlock.backend.jdbc;

import java.util.UUID;
import java.util.function.Consumer;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Databases of H2, each with the table of the locks.
 */
final class H2 {

	private H2() {
	}

	static HikariDataSource pool() {
		return pool((config) -> {
		});
	}

	/**
	 * Opens a database with the worst collation.
	 */
	static HikariDataSource pool(Consumer<HikariConfig> settings) {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;MODE=MySQL;IGNORECASE=TRUE;"
				+ "DATABASE_TO_LOWER=TRUE;CASE_INSENSITIVE_IDENTIFIERS=TRUE");
		settings.accept(config);
		HikariDataSource pool = new HikariDataSource(config);
		JdbcTemplate database = new JdbcTemplate(pool);
		database.execute(Platform.H2.schema("distributed_lock"));
		return pool;
	}

}
