package io.github.distributedlock.backend.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.backend.Waiter;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Locks mean the same under each setting of a server or driver that changes what a
 * statement means. A row of the table is a setting of the session, as SQL, or of the URL.
 */
class DatabaseSettingsTests {

	private static final Duration LEASE = Duration.ofMinutes(10);

	private static final AtomicInteger tables = new AtomicInteger();

	private static Postgres postgres;

	private static MariaDb mariaDb;

	@AfterAll
	static void stop() {
		if (postgres != null) {
			postgres.close();
		}
		if (mariaDb != null) {
			mariaDb.close();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "MODE=REGULAR", "MODE=STRICT", "MODE=LEGACY", "MODE=DB2", "MODE=Derby", "MODE=HSQLDB",
			"MODE=MSSQLServer", "MODE=MariaDB", "MODE=MySQL", "MODE=Oracle", "MODE=PostgreSQL",
			"MODE=MySQL;DATABASE_TO_LOWER=TRUE", "MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH",
			"DATABASE_TO_UPPER=FALSE", "CASE_INSENSITIVE_IDENTIFIERS=TRUE",
			"DATABASE_TO_UPPER=FALSE;CASE_INSENSITIVE_IDENTIFIERS=TRUE", "IGNORECASE=TRUE", "LAZY_QUERY_EXECUTION=1",
			"LOCK_TIMEOUT=1", "LOCK_MODE=0", "OPTIMIZE_REUSE_RESULTS=0", "TIME ZONE=Pacific/Auckland",
			"VARIABLE_BINARY=TRUE", "OLD_INFORMATION_SCHEMA=TRUE", "COLLATION=ENGLISH STRENGTH PRIMARY",
			"NON_KEYWORDS=VALUE,KEY,USER" })
	void onH2(String settings) {
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1;" + settings);
			holds(Platform.H2, pool, pool);
		}
	}

	@Tag("thorough")
	@ParameterizedTest
	@MethodSource("postgresSettings")
	void onPostgres(String settings) {
		if (postgres == null) {
			postgres = new Postgres();
		}
		try (HikariDataSource admin = postgres.pool(); HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl(
					postgres.server.getJdbcUrl("postgres", "postgres") + (isOfSession(settings) ? "" : "&" + settings));
			pool.setConnectionInitSql(isOfSession(settings) ? settings : null);
			holds(Platform.POSTGRESQL, admin, pool);
		}
	}

	static Stream<String> postgresSettings() {
		return Stream.of("set standard_conforming_strings = off", "set search_path = pg_catalog, public",
				"set default_transaction_isolation = 'serializable'", "set timezone = 'Pacific/Auckland'",
				"set datestyle = 'ISO, DMY'", "set intervalstyle = 'sql_standard'", "set lc_numeric = 'C'",
				"set bytea_output = 'escape'", "set transform_null_equals = on", "set extra_float_digits = -15",
				"set enable_indexscan = off", "set plan_cache_mode = force_generic_plan",
				"set debug_parallel_query = on", "set client_min_messages = error", "set synchronous_commit = off",
				"set session_replication_role = replica", "set row_security = off", "set array_nulls = off",
				"set default_transaction_deferrable = on", "set jit_above_cost = 0", "prepareThreshold=0",
				"prepareThreshold=-1", "preferQueryMode=simple", "preferQueryMode=extendedForPrepared",
				"preferQueryMode=extendedCacheEverything", "autosave=always", "binaryTransfer=false",
				"stringtype=unspecified", "reWriteBatchedInserts=true", "escapeSyntaxCallMode=callIfNoReturn",
				"quoteReturningIdentifiers=false", "defaultRowFetchSize=1&adaptiveFetch=true", "cleanupSavepoints=true",
				"assumeMinServerVersion=9.6", "preparedStatementCacheQueries=0", "maxResultBuffer=1M",
				"socketTimeout=60", "queryTimeout=60", "ApplicationName=" + "a".repeat(600),
				"options=-c%20statement_timeout=60000%20-c%20lock_timeout=10000", "readOnly=true&readOnlyMode=ignore");
	}

	@Tag("thorough")
	@ParameterizedTest
	@MethodSource("mariaDbSettings")
	void onMariaDbByItsDriver(String settings) {
		onMariaDb("mariadb", settings);
	}

	@Tag("thorough")
	@ParameterizedTest
	@MethodSource("mariaDbSettings")
	void onMariaDbByTheDriverOfMySql(String settings) {
		onMariaDb("mysql", settings);
	}

	private void onMariaDb(String driver, String settings) {
		if (mariaDb == null) {
			mariaDb = new MariaDb("--log-bin=locks", "--server-id=1");
		}
		try (HikariDataSource admin = mariaDb.pool(driver); HikariDataSource pool = new HikariDataSource()) {
			String url = admin.getJdbcUrl().split("\\?")[0];
			pool.setJdbcUrl(isOfSession(settings) ? url : url + "?" + settings);
			pool.setConnectionInitSql(isOfSession(settings) ? settings : null);
			pool.setUsername("root");
			holds(Platform.MARIADB, admin, pool);
		}
	}

	static Stream<String> mariaDbSettings() {
		return Stream.of("set sql_safe_updates = 1", "set sql_select_limit = 1",
				"set sql_safe_updates = 1, sql_select_limit = 1, max_join_size = 1000",
				"set binlog_format = 'STATEMENT'", "set autocommit = 0", "set sql_mode = ''", "set sql_mode = 'ANSI'",
				"set sql_mode = 'ANSI_QUOTES'", "set sql_mode = 'NO_BACKSLASH_ESCAPES'",
				"set sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'", "set sql_mode = 'TRADITIONAL'", "set sql_mode = 'ORACLE'",
				"set sql_mode = 'MSSQL'", "set sql_mode = 'DB2'", "set sql_mode = 'EMPTY_STRING_IS_NULL'",
				"set sql_mode = 'ORACLE,EMPTY_STRING_IS_NULL'", "set sql_mode = 'SIMULTANEOUS_ASSIGNMENT'",
				"set sql_mode = 'HIGH_NOT_PRECEDENCE,IGNORE_SPACE'", "set sql_mode = 'TIME_ROUND_FRACTIONAL'",
				"set session transaction isolation level serializable", "set time_zone = '+13:00'",
				"set max_statement_time = 60", "set innodb_lock_wait_timeout = 1",
				"set collation_connection = utf8mb4_general_ci", "set unique_checks = 0, foreign_key_checks = 0",
				"set sql_auto_is_null = 1", "set completion_type = 'CHAIN'", "set lc_time_names = 'de_DE'",
				"set sql_big_selects = 0, max_join_size = 1000", "set low_priority_updates = 1", "useAffectedRows=true",
				"useAffectedRows=false", "rewriteBatchedStatements=true", "allowMultiQueries=true",
				"useServerPrepStmts=true", "useServerPrepStmts=true&cachePrepStmts=true", "tinyInt1isBit=true",
				"zeroDateTimeBehavior=CONVERT_TO_NULL", "jdbcCompliantTruncation=false", "useLocalSessionState=true",
				"useCursorFetch=true&defaultFetchSize=1", "blobsAreStrings=true", "characterEncoding=latin1",
				"maxRows=1", "autoReconnect=true", "useBulkStmts=true", "dumpQueriesOnException=true",
				"databaseTerm=SCHEMA", "padCharsWithSpace=true", "elideSetAutoCommits=true",
				"dontTrackOpenResources=true", "transformedBitIsBoolean=true", "nullCatalogMeansCurrent=false",
				"autocommit=false", "sessionVariables=sql_mode=ANSI");
	}

	private static boolean isOfSession(String settings) {
		return settings.startsWith("set ");
	}

	/**
	 * Asserts what a lock promises, in short.
	 */
	private static void holds(Platform platform, HikariDataSource admin, HikariDataSource pool) {
		pool.setMaximumPoolSize(4);
		String table = "locks_" + tables.incrementAndGet();
		new JdbcTemplate(admin).execute(platform.schema(table));
		JdbcLockSettings settings = Patient.SETTINGS.table(table);
		try (JdbcLockBackend store = new JdbcLockBackend(pool, settings);
				JdbcLockBackend other = new JdbcLockBackend(admin, settings)) {
			store.check();
			for (String key : List.of("k", "K", "k ", "\u00e9\ud83d\ude00", "it's \"a\" \\ `key` ? {x} %_",
					"x".repeat(1000))) {
				exclusive(store, other, key);
			}
			fenced(store, other);
			renewed(store, other);
			deleted(platform, store, new JdbcTemplate(admin), table);
		}
	}

	private static Claim claim(String key, String instance) {
		return Claim.of(key, instance + ":1", instance, LEASE);
	}

	static void exclusive(JdbcLockBackend store, JdbcLockBackend other, String key) {
		for (int time = 0; time < 2; time++) {
			assertThat(store.acquire(claim(key, "a")).acquired()).as("a free key, %d", time).isTrue();
			assertThat(store.acquire(claim(key, "a")).acquired()).as("again").isTrue();
			AcquireResult busy = store.acquireOrRegister(claim(key, "b"));
			assertThat(busy.acquired()).as("a busy key").isFalse();
			assertThat(busy.holder().owner()).isEqualTo("a:1");
			assertThat(other.acquire(claim(key, "c")).acquired()).as("a busy key, without the setting").isFalse();
			assertThat(store.inspect(key).holders()).hasSize(1);
			assertThat(store.inspect(key).waiters()).hasSize(1);
			assertThat(store.renew(List.of(Renewal.of(claim(key, "a"))))).containsExactly(true);
			assertThat(store.release(key, "b:1")).as("a release by another").isFalse();
			// Again where the machine is so slow that the reservation has ended.
			Awaitility.await("a reservation").until(() -> {
				store.acquireOrRegister(claim(key, "b"));
				assertThat(store.release(key, "a:1")).as("a release with a waiter").isTrue();
				return !store.acquire(claim(key, "a")).acquired();
			});
			assertThat(store.acquireOrRegister(claim(key, "b")).acquired()).as("in turn").isTrue();
			assertThat(store.release(key, "b:1")).as("a release without a waiter").isTrue();
			assertThat(store.release(key, "b:1")).as("a second release").isFalse();
			assertThat(store.inspect(key).isFree()).isTrue();
		}
		other.acquire(claim(key, "c"));
		store.acquireOrRegister(claim(key, "b"));
		store.withdraw(key, Waiter.exclusive("b"), Set.of());
		assertThat(store.inspect(key).waiters()).isEmpty();
		assertThat(other.leaveToExpire(key, "c:1", Duration.ofMillis(1))).isTrue();
	}

	private static void fenced(JdbcLockBackend store, JdbcLockBackend other) {
		long last = 0;
		for (JdbcLockBackend each : List.of(store, other, store)) {
			long token = each.acquire(claim("fenced", "a").fenced(true)).fencingToken();
			assertThat(token).isGreaterThan(last);
			last = token;
			assertThat(each.release("fenced", "a:1")).isTrue();
		}
	}

	private static void renewed(JdbcLockBackend store, JdbcLockBackend other) {
		List<Renewal> renewals = Stream.of("r1", "r2", "r3").map((key) -> Renewal.of(claim(key, "a"))).toList();
		store.acquire(claim("r1", "a"));
		store.acquire(claim("r2", "a"));
		other.acquire(claim("r3", "c"));
		assertThat(store.renew(renewals.subList(0, 1))).as("one").containsExactly(true);
		assertThat(store.renew(renewals.subList(0, 2))).as("two").containsExactly(true, true);
		assertThat(store.renew(renewals)).as("one of another").containsExactly(true, true, false);
		assertThat(store.renew(renewals.subList(2, 3))).as("of another").containsExactly(false);
	}

	private static void deleted(Platform platform, JdbcLockBackend store, JdbcTemplate admin, String table) {
		for (int count = 1; count < 3; count++) {
			for (int i = 0; i < count; i++) {
				store.acquire(claim("old " + i, "old"));
				store.release("old " + i, "old:1");
				assertThat(admin.update(
						"update " + table + " set ends_at = timestamp '1970-01-01 00:00:01',"
								+ " sweep_at = timestamp '1970-01-01 00:00:01' where lock_key = ?",
						platform.bind("old " + i)))
					.isOne();
			}
			store.deleteExpired();
			for (int i = 0; i < count; i++) {
				assertThat(admin.queryForObject("select count(*) from " + table + " where lock_key = ?", Integer.class,
						platform.bind("old " + i)))
					.isZero();
			}
		}
	}

}
