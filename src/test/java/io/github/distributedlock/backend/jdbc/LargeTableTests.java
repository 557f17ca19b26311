package io.github.distributedlock.backend.jdbc;

import java.nio.file.Path;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * On a table of many keys, each statement reads the rows of its own keys alone.
 */
class LargeTableTests {

	private static final int MILLION = 1_000_000;

	@Test
	void h2ReadsFewRows() throws Exception {
		try (HikariDataSource pool = H2.pool()) {
			TableReads.check(pool, Platform.H2, 20_000);
		}
	}

	@Test
	@Tag("thorough")
	void h2ReadsFewRowsOfAMillion(@TempDir Path directory) throws Exception {
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl("jdbc:h2:" + directory.resolve("locks"));
			TableReads.check(pool, Platform.H2, MILLION);
		}
	}

	@Test
	@Tag("thorough")
	void postgresReadsFewRowsOfAMillion() throws Exception {
		try (Postgres server = new Postgres("off"); HikariDataSource pool = server.pool()) {
			TableReads.check(pool, Platform.POSTGRESQL, MILLION);
		}
	}

	@Test
	@Tag("thorough")
	void mariaDbReadsFewRowsOfAMillion() throws Exception {
		try (MariaDb server = new MariaDb()) {
			for (String driver : MariaDb.DRIVERS) {
				try (HikariDataSource pool = server.pool(driver)) {
					TableReads.check(pool, Platform.MARIADB, MILLION);
				}
			}
		}
	}

}
