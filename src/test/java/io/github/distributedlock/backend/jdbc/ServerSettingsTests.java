package io.github.distributedlock.backend.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A start names the settings of the server that break a promise of the locks.
 */
@Tag("thorough")
@ExtendWith(OutputCaptureExtension.class)
class ServerSettingsTests {

	@ParameterizedTest
	@ValueSource(strings = { "on", "off" })
	void unsafePostgresIsNamed(String durable, CapturedOutput output) {
		try (Postgres server = new Postgres(durable); HikariDataSource pool = server.pool()) {
			new JdbcTemplate(pool).execute(Platform.POSTGRESQL.schema("distributed_lock"));
			check(pool);
			for (String setting : new String[] { "fsync", "full_page_writes" }) {
				assertThat(output.getOut().contains("The setting " + setting + " of the database is off")).as(setting)
					.isEqualTo(durable.equals("off"));
			}
		}
	}

	@Test
	void unsafeMariaDbIsNamed(CapturedOutput output) {
		try (MariaDb server = new MariaDb(); HikariDataSource pool = server.pool("mariadb")) {
			JdbcTemplate database = new JdbcTemplate(pool);
			database.execute(Platform.MARIADB.schema("distributed_lock"));
			check(pool);
			assertThat(output).doesNotContain("The setting ");
			database.execute("set global innodb_flush_log_at_trx_commit = 2");
			check(pool);
			assertThat(output).contains("The setting innodb_flush_log_at_trx_commit of the database is 2");
		}
	}

	private static void check(HikariDataSource pool) {
		try (JdbcLockBackend store = new JdbcLockBackend(pool, JdbcLockSettings.defaults())) {
			store.check();
		}
	}

}
