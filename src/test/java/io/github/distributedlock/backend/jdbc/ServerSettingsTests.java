package io.github.distributedlock.backend.jdbc;

import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.fixtures.JvmProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A start names the settings of the server that break a promise of the locks.
 */
@ExtendWith(OutputCaptureExtension.class)
class ServerSettingsTests {

	private static final int TRIALS = 4;

	@Test
	void aFileOfH2IsWrittenAtOnce(@TempDir Path directory) {
		String url = "jdbc:h2:" + directory.resolve("locks");
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl(url);
			JdbcTemplate database = new JdbcTemplate(pool);
			database.execute(Platform.H2.schema("distributed_lock"));
			database.execute("create user app password ''");
			database.execute("grant select, insert, update, delete on distributed_lock to app");
			try (HikariDataSource others = new HikariDataSource()) {
				others.setJdbcUrl(url);
				others.setUsername("app");
				assertThatThrownBy(() -> check(others)).isInstanceOf(LockBackendException.class)
					.hasMessageContaining("The setting WRITE_DELAY of the database is 500")
					.hasMessageContaining("set write_delay 0");
				check(pool);
				assertThat(database.queryForList(
						"select setting_value from information_schema.settings where setting_name = 'WRITE_DELAY'",
						String.class))
					.containsOnly("0");
				check(others);
			}
		}
	}

	@Test
	@Tag("thorough")
	void aLockSurvivesTheJvmThatServesTheFile(@TempDir Path directory) {
		for (int trial = 0; trial < TRIALS; trial++) {
			String url = "jdbc:h2:" + directory.resolve("locks-" + trial) + ";AUTO_SERVER=TRUE";
			try (JvmProcess server = JvmProcess.start(H2Jvm.class, Map.of(), url)) {
				server.awaitLine("serves");
				try (HikariDataSource pool = new HikariDataSource(); JdbcLockBackend store = store(pool, url)) {
					assertThat(store.acquire(claim("a")).acquired()).isTrue();
					server.kill();
				}
			}
			try (HikariDataSource pool = new HikariDataSource(); JdbcLockBackend store = store(pool, url)) {
				assertThat(store.acquire(claim("b")).acquired()).as("two holders, trial %d", trial).isFalse();
			}
		}
	}

	private static JdbcLockBackend store(HikariDataSource pool, String url) {
		pool.setJdbcUrl(url);
		return new JdbcLockBackend(pool, Patient.SETTINGS);
	}

	private static Claim claim(String instance) {
		return Claim.of("k", instance + ":1", instance, Duration.ofMinutes(10));
	}

	@Test
	void aDatabaseInMemoryIsNotWarnedOf(CapturedOutput output) {
		try (HikariDataSource pool = H2.pool()) {
			check(pool);
		}
		assertThat(output).doesNotContain("The setting ").doesNotContain("write_delay");
	}

	@Tag("thorough")
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

	/**
	 * A trigger that runs at the commit tells how each step is committed.
	 */
	@ParameterizedTest
	@CsvSource({ "off, on", "on, on", "local, local", "remote_apply, remote_apply" })
	@Tag("thorough")
	void whatGivesAKeyIsCommittedToTheDiskOfPostgres(String setting, String committed) {
		try (Postgres server = new Postgres("off"); HikariDataSource admin = server.pool()) {
			JdbcTemplate database = new JdbcTemplate(admin);
			database.execute(Platform.POSTGRESQL.schema("distributed_lock"));
			database.execute("alter role postgres set synchronous_commit = " + setting);
			try (HikariDataSource pool = server.pool();
					JdbcLockBackend store = new JdbcLockBackend(pool, Patient.SETTINGS)) {
				store.check();
				database.execute("create table steps (step serial, committed text)");
				database.execute("create function note() returns trigger language plpgsql as $$ begin"
						+ " insert into steps (committed) values (current_setting('synchronous_commit'));"
						+ " return null; end $$");
				database.execute("create constraint trigger note after insert or update on distributed_lock"
						+ " deferrable initially deferred for each row execute function note()");
				List<Runnable> steps = List.of(() -> store.acquire(claim("a")), () -> store.acquire(claim("a")),
						() -> store.acquire(claim("a").fenced(true)),
						() -> store.renew(List.of(Renewal.of(claim("a")))),
						() -> store.leaveToExpire("k", "a:1", Duration.ofMinutes(1)));
				steps.forEach(Runnable::run);
				assertThat(database.queryForList("select committed from steps", String.class)).hasSize(steps.size())
					.containsOnly(committed);
			}
		}
	}

	@Test
	void anUnknownSettingIsNoFailureOfTheConnection() {
		assertThat(SqlFailures.isOfConnection(new SQLException("Unknown system variable 'x'", "HY000", 1193)))
			.isFalse();
	}

	@Test
	@Tag("thorough")
	void unsafeMariaDbIsNamed(CapturedOutput output) {
		try (MariaDb server = new MariaDb(); HikariDataSource pool = server.pool("mariadb")) {
			JdbcTemplate database = new JdbcTemplate(pool);
			database.execute(Platform.MARIADB.schema("distributed_lock"));
			check(pool);
			assertThat(output).doesNotContain("The setting ");
			database.execute("set global innodb_flush_log_at_trx_commit = 2");
			check(pool);
			assertThat(output).contains("The setting innodb_flush_log_at_trx_commit of the database is 2");
			try (Connections connections = new Connections(pool, Patient.SETTINGS)) {
				String read = connections.run("read a setting that the server does not know", (session) -> {
					ServerSettings.check(new ServerSettings.Setting(Platform.MYSQL, "unknown",
							"select @@global.unknown", Set.of(), "nothing", "nothing", null), session);
					return session.value("select 'usable'");
				});
				assertThat(read).isEqualTo("usable");
			}
		}
	}

	private static void check(HikariDataSource pool) {
		try (JdbcLockBackend store = new JdbcLockBackend(pool, Patient.SETTINGS)) {
			store.check();
		}
	}

}
