package io.github.distributedlock.backend.jdbc;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.LockBackendException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.SoftAssertions.assertSoftly;

/**
 * The exception of an unreachable database or table has the words of the server, and the
 * remedy of that cause and of no other.
 */
class ConnectionFailuresTests {

	private static final String DATABASE = "create the database, or correct its name in spring.datasource.url";

	private static final String USER = "correct spring.datasource.username and spring.datasource.password";

	private static final String ADDRESS = "see that the database runs and answers, and that spring.datasource.url leads"
			+ " to it";

	private static final String POOL = "let the pool have more connections (distributed-lock.jdbc.pool-size";

	private static final String SERVER = "let the server have more connections";

	private static final String CONNECT = "the right to connect";

	@TempDir
	private Path directory;

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			jdbc:h2:file:#/nope;IFEXISTS=TRUE | sa  | nope" not found           | create the database
			jdbc:h2:file:#/there              | bob | Wrong user name or password | correct spring.datasource.username
			jdbc:h2:file:#/there;SCHEMA=NOPE  | sa  | Schema "NOPE" not found   | create the schema
			""")
	void whatH2SaysStopsTheStart(String url, String user, String said, String remedy) throws SQLException {
		DriverManager.getConnection(inDirectory("jdbc:h2:file:#/there"), "sa", "").close();
		LockBackendException failure = failure((config) -> {
			config.setJdbcUrl(inDirectory(url));
			config.setUsername(user);
		});
		assertThat(failure).hasMessageContainingAll(said, remedy).hasMessageNotContaining("Hikari");
		assertThat(failure.isRetryable()).isFalse();
		assertThat(failure.isWithoutEffect()).isTrue();
	}

	private String inDirectory(String url) {
		return url.replace("#", this.directory.toString());
	}

	@Test
	void aServerThatIsDownIsNoPoolThatIsTooSmall() {
		LockBackendException failure = failure((config) -> config.setJdbcUrl("jdbc:h2:tcp://localhost:1/locks"));
		assertThat(failure).hasMessageContaining(ADDRESS).hasMessageNotContaining(POOL);
		assertThat(failure.isRetryable()).isTrue();
	}

	/**
	 * The pools include one that lets a caller wait for longer than a lock does.
	 */
	@ParameterizedTest
	@ValueSource(longs = { 250, 30_000 })
	void aPoolWithoutAFreeConnectionIsNoServerThatIsDown(long wait) throws SQLException {
		try (HikariDataSource pool = H2.pool((config) -> {
			config.setMaximumPoolSize(1);
			config.setConnectionTimeout(wait);
		});
				Connection only = pool.getConnection();
				JdbcLockBackend store = new JdbcLockBackend(pool,
						JdbcLockSettings.defaults().commandTimeout(Duration.ofMillis(500)))) {
			LockBackendException failure = catchThrowableOfType(LockBackendException.class, store::check);
			assertThat(only.isClosed()).isFalse();
			assertThat(failure).hasMessageContaining(POOL).hasMessageNotContaining(ADDRESS);
			assertThat(failure.isRetryable()).isTrue();
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			3D000 | 0    | false | create the database
			42000 | 1049 | false | create the database
			28P01 | 0    | false | correct spring.datasource.username
			28000 | 1045 | false | correct spring.datasource.username
			08004 | 0    | false | what spring.datasource.url says of SSL
			08004 | 1040 | true  | let the server have more connections
			42000 | 1044 | false | the right to connect
			42501 | 0    | false | the right to connect
			53300 | 0    | true  | let the server have more connections
			42000 | 1203 | true  | let the server have more connections
			57P03 | 0    | true  | wait until the database has started
			08001 | 0    | true  | see that the database runs
			""")
	void theCodeOfTheServerCountsThoughThePoolHidesIt(String state, int code, boolean retryable, String remedy) {
		SQLException said = new SQLException("The server's words", state, code);
		LockBackendException failure = SqlFailures
			.notConnected(new SQLTransientConnectionException("The pool's words", state, said), false);
		assertThat(failure).hasMessageContainingAll("The server's words", remedy)
			.hasMessageNotContaining("The pool's words");
		assertThat(failure.isRetryable()).isEqualTo(retryable);
	}

	@Test
	@Tag("thorough")
	void whatPostgresSaysIsTold() {
		try (Postgres server = new Postgres("off"); HikariDataSource pool = server.pool()) {
			JdbcTemplate admin = new JdbcTemplate(pool);
			admin.execute("create user shop password 'secret' connection limit 0");
			admin.execute("create user bob");
			admin.execute("create user schemaless");
			admin.execute("alter user schemaless set search_path = nope");
			admin.execute("create database closed");
			admin.execute("revoke connect on database closed from public");
			int port = server.server.getPort();
			String url = "jdbc:postgresql://localhost:" + port + "/";
			assertSoftly((softly) -> {
				Expect expect = (address, user, said, remedy) -> softly.assertThat(failure((config) -> {
					config.setJdbcUrl(address);
					config.setUsername(user);
				})).hasMessageContainingAll(said, remedy);
				expect.of(url + "nope", "postgres", "FATAL: database \"nope\" does not exist", DATABASE);
				expect.of(url + "postgres", "nobody", "FATAL: role \"nobody\" does not exist", USER);
				expect.of(url + "postgres", "shop", "FATAL: too many connections for role", SERVER);
				expect.of(url + "closed", "bob", "FATAL: permission denied for database \"closed\"", CONNECT);
				expect.of("jdbc:postgresql://localhost:1/postgres", "postgres", "refused", ADDRESS);
				expect.of(url + "postgres?sslmode=require", "bob", "The server does not support SSL", USER);
				expect.of(url + "postgres", "schemaless", "search_path is nope", "currentSchema");
			});
			theRemedyOfATableOfPostgresMends(admin, url);
		}
	}

	/**
	 * Runs each statement that is named.
	 */
	private static void theRemedyOfATableOfPostgresMends(JdbcTemplate admin, String url) {
		Consumer<HikariConfig> bob = (config) -> {
			config.setJdbcUrl(url + "postgres");
			config.setUsername("bob");
		};
		String missing = failure(bob, "shop.locks").remedy().orElseThrow();
		assertThat(missing).startsWith("run: create schema if not exists shop; create table");
		admin.execute(missing.substring("run: ".length()));
		String denied = failure(bob, "shop.locks").remedy().orElseThrow();
		assertThat(denied).contains("grant usage on schema shop to …; grant select");
		admin.execute(denied.substring(denied.indexOf("grant")).replace("…", "bob"));
		assertThat(failure(bob, "locks")).hasMessageContainingAll(
				"There is a table shop.locks, but none where the user looks",
				"set distributed-lock.jdbc.table=shop.locks if");
		assertThat(failure(bob, "shop.locks")).isNull();
		admin.execute("alter table shop.locks enable row level security");
		for (String policy : new String[] { "select", "insert with check (false)", "all using (lock_key < 'd')" }) {
			LockBackendException hidden = failure(bob, "shop.locks");
			assertThat(hidden).as("before a policy for %s", policy)
				.hasMessageContainingAll("row-level security",
						"run: alter table shop.locks disable row level security");
			admin.execute("create policy \"" + policy + "\" on shop.locks for "
					+ (policy.equals("select") ? "select using (true)" : policy));
		}
		String hidden = failure(bob, "shop.locks").remedy().orElseThrow();
		admin.execute(hidden.substring("run: ".length()));
		assertThat(failure(bob, "shop.locks")).isNull();
	}

	@Test
	@Tag("thorough")
	void whatMariaDbSaysIsTold() {
		try (MariaDb server = new MariaDb(); HikariDataSource pool = server.pool("mariadb")) {
			JdbcTemplate admin = new JdbcTemplate(pool);
			admin.execute("flush privileges"); // So that the server asks for passwords.
			admin.execute("alter user root@localhost identified via mysql_native_password using ''");
			admin.execute("create user bob@localhost identified by 'secret'");
			for (String driver : MariaDb.DRIVERS) {
				try (HikariDataSource some = server.pool(driver)) {
					String url = some.getJdbcUrl();
					assertSoftly((softly) -> {
						Expect expect = (address, credentials, said, remedy) -> softly.assertThat(failure((config) -> {
							config.setJdbcUrl(address);
							config.setUsername(credentials.split("/")[0]);
							config.setPassword(credentials.split("/", -1)[1]);
						})).as(driver).hasMessageContainingAll(said, remedy);
						expect.of(url.replace("/locks", "/nope"), "root/", "Unknown database 'nope'", DATABASE);
						expect.of(url, "bob/wrong", "Access denied for user 'bob'@'localhost'", USER);
						expect.of(url, "bob/secret", "to database 'locks'", CONNECT);
						expect.of("jdbc:" + driver + "://localhost:1/locks", "root/", "", ADDRESS);
					});
					String missing = failure((config) -> some.copyStateTo(config), driver + ".locks").remedy()
						.orElseThrow();
					assertThat(missing).startsWith("run: create schema if not exists " + driver + "; create table");
					for (String statement : missing.substring("run: ".length()).split(";")) {
						admin.execute(statement);
					}
					try (JdbcLockBackend store = store(some, driver + ".locks")) {
						store.check();
					}
				}
			}
		}
	}

	private interface Expect {

		void of(String url, String user, String said, String remedy);

	}

	private static LockBackendException failure(Consumer<HikariConfig> settings) {
		return failure(settings, "distributed_lock");
	}

	private static LockBackendException failure(Consumer<HikariConfig> settings, String table) {
		try (HikariDataSource pool = pool(settings); JdbcLockBackend store = store(pool, table)) {
			// On a busy machine, the server says why after the pool has given up.
			return Awaitility.await()
				.until(() -> Optional.ofNullable(catchThrowableOfType(LockBackendException.class, store::check)),
						(failure) -> failure.isEmpty() || !failure.get().getMessage().contains("request timed out"))
				.orElse(null);
		}
	}

	/**
	 * Like the pool of the locks: one that opens connections in the background.
	 */
	private static HikariDataSource pool(Consumer<HikariConfig> settings) {
		HikariDataSource pool = new HikariDataSource();
		pool.setUsername("sa");
		settings.accept(pool);
		pool.setInitializationFailTimeout(-1);
		pool.setConnectionTimeout(1000);
		pool.setMaximumPoolSize(4);
		pool.setMinimumIdle(1);
		return pool;
	}

	private static JdbcLockBackend store(DataSource pool, String table) {
		return new JdbcLockBackend(pool,
				JdbcLockSettings.defaults().table(table).commandTimeout(Duration.ofSeconds(20)));
	}

}
