package io.github.distributedlock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.SoftAssertions.assertSoftly;
import static org.awaitility.Awaitility.await;

/**
 * A table that was made by hand, in another way than ours, is refused with the statement
 * that mends it.
 */
@ExtendWith(OutputCaptureExtension.class)
class TableCheckTests {

	private static final String TWICE = "takes a key twice";

	private static final String SAME = "for the same key";

	private static final String SCHEMA = "create table if not exists distributed_lock";

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			' primary key'           | ''                         | takes a key twice
			'varbinary(1000) primary key' | 'varbinary(1000), unique (version, lock_key)' | takes a key twice
			'varbinary(1000)'        | 'varchar_ignorecase(1000)' | for the same key
			'varbinary(1000)'        | 'varbinary(999)'           | create table if not exists
			'varbinary(1000)'        | 'char(1000)'               | create table if not exists
			'holders varchar'        | 'holders varchar(1000)'    | create table if not exists
			'ends_at timestamp(6)'   | 'ends_at timestamp(3)'     | longest values
			'ends_at timestamp(6)'   | 'ends_at bigint'           | create table if not exists
			'fencing_token bigint'   | 'fencing_token double precision' | longest values
			'waiters varchar'        | 'waiters varchar(1000)'    | create table if not exists
			'version bigint not null' | 'version bigint not null, color int not null' | create table if not exists
			'version bigint not null' | 'versions bigint not null' | drop table distributed_lock, and
			'sweep_at timestamp(6) not null' | 'sweep int, sweep_at bigint not null' | create table if not exists
			""")
	void anUnfitTableOfH2IsRefused(String ours, String theirs, String problem) {
		try (HikariDataSource pool = H2.pool()) {
			String schema = Platform.H2.schema("distributed_lock");
			assertThat(refusal(pool, schema, schema.replace(ours, theirs))).contains(problem);
		}
	}

	@Test
	void aTableIsCheckedByTheFirstLockIfNotBefore() {
		try (HikariDataSource pool = H2.pool(); JdbcLockBackend store = new JdbcLockBackend(pool, Patient.SETTINGS)) {
			JdbcTemplate database = new JdbcTemplate(pool);
			database.execute("alter table distributed_lock drop primary key");
			Claim claim = Claim.of("k", "a:1", "a", Duration.ofMinutes(1));
			assertThat(catchThrowableOfType(LockBackendException.class, () -> store.acquire(claim)))
				.hasMessageContaining(TWICE);
			database.execute("alter table distributed_lock add primary key (lock_key)");
			assertThat(store.acquire(claim).acquired()).isTrue();
		}
	}

	@Test
	void manyFirstLocksWaitForOneCheck() {
		try (HikariDataSource pool = H2.pool()) {
			Gate gate = new Gate(pool);
			try (JdbcLockBackend store = new JdbcLockBackend(gate, Patient.SETTINGS)) {
				List<FutureTask<AcquireResult>> requests = firstLocks(store);
				// The thread that asks for a connection may begin later.
				await().until(() -> gate.asked.get() > 0);
				assertThat(gate.asked).hasValue(1);
				gate.open.countDown();
				assertThat(requests).allSatisfy((request) -> assertThat(request).succeedsWithin(Patience.PATIENCE)
					.matches(AcquireResult::acquired));
			}
		}
	}

	@Test
	void eachFirstLockFailsByItselfIfTheCheckFails() {
		HikariDataSource pool = H2.pool();
		Gate gate = new Gate(pool);
		try (JdbcLockBackend store = new JdbcLockBackend(gate, Patient.SETTINGS)) {
			List<FutureTask<AcquireResult>> requests = firstLocks(store);
			pool.close();
			gate.open.countDown();
			List<Throwable> failures = requests.stream()
				.map((request) -> catchThrowableOfType(ExecutionException.class,
						() -> request.get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS))
					.getCause())
				.toList();
			assertThat(failures).doesNotHaveDuplicates()
				.allSatisfy((failure) -> assertThat(failure).isInstanceOf(LockBackendException.class)
					.hasMessageContaining("No connection for locks could be had"));
		}
	}

	/**
	 * Makes eight requests, and returns when all of them wait.
	 */
	private static List<FutureTask<AcquireResult>> firstLocks(JdbcLockBackend store) {
		List<FutureTask<AcquireResult>> requests = IntStream.range(0, 8)
			.mapToObj((i) -> new FutureTask<>(
					() -> store.acquire(Claim.of("k" + i, "a:" + i, "a", Duration.ofMinutes(1)))))
			.toList();
		List<Thread> threads = requests.stream().map(Thread::new).toList();
		threads.forEach(Thread::start);
		await().until(() -> threads.stream()
			.allMatch((thread) -> EnumSet.of(Thread.State.WAITING, Thread.State.TIMED_WAITING)
				.contains(thread.getState())));
		return requests;
	}

	/**
	 * Lends no connection before the gate is open, and counts who has asked for one.
	 */
	private static final class Gate extends DelegatingDataSource {

		private final CountDownLatch open = new CountDownLatch(1);

		private final AtomicInteger asked = new AtomicInteger();

		private Gate(DataSource pool) {
			super(pool);
		}

		@Override
		public Connection getConnection() throws SQLException {
			this.asked.incrementAndGet();
			try {
				this.open.await(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS);
			}
			catch (InterruptedException ex) {
				throw new SQLException(ex);
			}
			return super.getConnection();
		}

	}

	@Test
	void aCheckLeavesNothingBehind() {
		try (HikariDataSource pool = H2.pool((config) -> config.setAutoCommit(false));
				JdbcLockBackend store = new JdbcLockBackend(pool, Patient.SETTINGS)) {
			store.check();
			assertThat(new JdbcTemplate(pool).queryForObject("select count(*) from distributed_lock", Integer.class))
				.isZero();
		}
	}

	@Test
	void aTableWithoutItsIndexIsNamed(CapturedOutput output) {
		try (HikariDataSource pool = H2.pool()) {
			namesTheIndex(pool, Platform.H2, ",\n\tunique (sweep_at, lock_key)", output);
		}
	}

	/**
	 * Asserts that the warning names the index, and runs the named statement.
	 */
	private static void namesTheIndex(DataSource pool, Platform platform, String index, CapturedOutput output) {
		JdbcTemplate database = new JdbcTemplate(pool);
		String schema = platform.schema("distributed_lock");
		assertThat(schema).contains(index);
		database.execute("drop table if exists distributed_lock");
		database.execute(schema);
		assertThat(warnings(pool, output)).isEmpty();
		database.execute("drop table distributed_lock");
		database.execute(schema.replace(index, ""));
		String warning = warnings(pool, output);
		assertThat(warning).contains("has no index that begins with the column sweep_at");
		database.execute(warning.substring(warning.indexOf("alter table")).lines().findFirst().orElseThrow());
		assertThat(warnings(pool, output)).isEmpty();
	}

	private static String warnings(DataSource pool, CapturedOutput output) {
		int before = output.getOut().length();
		try (JdbcLockBackend store = new JdbcLockBackend(pool, Patient.SETTINGS)) {
			store.check();
		}
		return output.getOut()
			.substring(before)
			.lines()
			.filter((line) -> line.contains("TableCheck"))
			.collect(Collectors.joining("\n"));
	}

	@Test
	@Tag("thorough")
	void unfitTablesOfPostgresAreRefused(CapturedOutput output) {
		try (Postgres server = new Postgres("off"); HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl(server.url());
			// In UTC, a column with a time zone would keep each time as written.
			pool.setConnectionInitSql("set timezone = 'Asia/Kathmandu'");
			new JdbcTemplate(pool).execute(
					"create collation nocase (provider = icu, locale = 'und-u-ks-level2'," + " deterministic = false)");
			String schema = Platform.POSTGRESQL.schema("distributed_lock");
			assertSoftly((softly) -> {
				Expect expect = (ours, theirs, problem) -> softly
					.assertThat(refusal(pool, schema, schema.replace(ours, theirs)))
					.as("%s for %s", theirs, ours)
					.contains(problem);
				expect.of(" primary key", "", TWICE);
				expect.of(" primary key", " unique deferrable", SCHEMA);
				expect.of("collate \"C\"", "collate nocase", SAME);
				expect.of("varchar(1000)", "char(1000)", SAME);
				expect.of("varchar(1000)", "varchar(500)", SCHEMA);
				expect.of("holders text", "holders varchar(255)", SCHEMA);
				expect.of("waiters text", "waiters varchar(255)", SCHEMA);
				expect.of("ends_at timestamp(6)", "ends_at timestamp(3)", "longest values");
				expect.of("ends_at timestamp(6)", "ends_at timestamptz(6)", "time zone");
				expect.of("ends_at timestamp(6)", "ends_at bigint", SCHEMA);
				expect.of("fencing_token bigint", "fencing_token real", "longest values");
				expect.of("create table", "create unlogged table", "set logged");
			});
			namesTheIndex(pool, Platform.POSTGRESQL, ",\n\tunique (sweep_at, lock_key)", output);
		}
	}

	@Test
	@Tag("thorough")
	void unfitTablesOfMariaDbAreRefused(CapturedOutput output) {
		try (MariaDb server = new MariaDb()) {
			String schema = Platform.MARIADB.schema("distributed_lock");
			for (String driver : MariaDb.DRIVERS) {
				try (HikariDataSource pool = server.pool(driver)) {
					assertSoftly((softly) -> {
						Expect expect = (ours, theirs, problem) -> softly
							.assertThat(refusal(pool, schema, schema.replace(ours, theirs)))
							.as("%s for %s, by the driver of %s", theirs, ours, driver)
							.contains(problem);
						expect.of(" primary key", "", TWICE);
						expect.of("varbinary(1000) primary key", "varbinary(1000), unique (lock_key(20))", SAME);
						expect.of("varbinary(1000)", "varchar(700) collate utf8mb4_general_ci", SAME);
						expect.of("varbinary(1000)", "varbinary(500)", SAME);
						expect.of("holders mediumtext", "holders varchar(255)", "longest values");
						expect.of("waiters mediumtext", "waiters varchar(1000)", "longest values");
						expect.of("ends_at datetime(6)", "ends_at datetime(3)", "longest values");
						expect.of("ends_at datetime(6)", "ends_at timestamp(6)", "longest values");
						for (String engine : new String[] { "MyISAM", "Aria" }) {
							expect.of("engine = InnoDB", "engine = " + engine, "engine = InnoDB");
							softly.assertThat(new JdbcTemplate(pool).queryForObject(
									"select count(*) from distributed_lock where lock_key like 'distributed-lock-check%'",
									Integer.class))
								.as("rows left in %s", engine)
								.isZero();
						}
					});
					namesTheIndex(pool, Platform.MARIADB, ",\n\tindex (sweep_at)", output);
				}
			}
		}
	}

	private interface Expect {

		void of(String ours, String theirs, String problem);

	}

	/**
	 * Makes the table in another way.
	 * @return the message of the refusal
	 */
	private static String refusal(DataSource pool, String schema, String changed) {
		assertThat(changed).isNotEqualTo(schema);
		JdbcTemplate database = new JdbcTemplate(pool);
		database.execute("drop table if exists distributed_lock");
		database.execute(changed);
		try (JdbcLockBackend store = new JdbcLockBackend(pool, Patient.SETTINGS)) {
			LockBackendException refusal = catchThrowableOfType(LockBackendException.class, store::check);
			if (refusal == null) {
				return "not refused";
			}
			assertThat(refusal.isRetryable()).as("retryable: %s", refusal).isFalse();
			assertThat(refusal.isWithoutEffect()).as("without effect: %s", refusal).isTrue();
			return refusal.getMessage();
		}
	}

}
