package io.github.distributedlock.backend.jdbc;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Listening;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.tck.Ear;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionTemplate;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * The promises of a table besides the contract of every store, on H2.
 */
class JdbcLockBackendTests {

	private static final Duration LEASE = Duration.ofMinutes(10);

	private static final String OWNER = "a:1";

	private final HikariDataSource pool = H2.pool();

	private final JdbcLockBackend backend = backend(this.pool);

	private final JdbcTemplate database = new JdbcTemplate(this.pool);

	@AfterEach
	void close() {
		this.backend.close();
		this.pool.close();
	}

	private static JdbcLockBackend backend(DataSource dataSource) {
		return new JdbcLockBackend(dataSource, Patient.SETTINGS);
	}

	private static Claim claim(String key, String instance) {
		return Claim.of(key, instance + ":1", instance, LEASE);
	}

	// Settings of the JVM

	@Test
	void statementsHaveTheSameDigitsInEachLocale() {
		Locale usual = Locale.getDefault();
		Locale.setDefault(Locale.forLanguageTag("fa-IR"));
		try (JdbcLockBackend persian = backend(this.pool)) {
			persian.check();
			persian.acquire(claim("k", "a"));
			assertThat(persian.renew(List.of(Renewal.of(claim("k", "a"))))).containsExactly(true);
		}
		finally {
			Locale.setDefault(usual);
		}
	}

	// Transactions

	@Test
	void aLockIsNoPartOfTheTransactionOfTheCaller() {
		TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(this.pool));
		transaction.executeWithoutResult((status) -> {
			assertThat(this.backend.acquire(claim("k", "a")).acquired()).isTrue();
			assertThat(backend(this.pool).acquire(claim("k", "b")).acquired()).as("visible to others").isFalse();
			status.setRollbackOnly();
		});
		assertThat(this.backend.release("k", OWNER)).as("owned after the rollback").isTrue();
	}

	@Test
	void connectionsThatJoinTransactionsAreRefused() {
		DataSource joining = new TransactionAwareDataSourceProxy(this.pool);
		for (DataSource each : List.of(joining, new DelegatingDataSource(joining))) {
			assertThatThrownBy(() -> backend(each)).isInstanceOf(IllegalArgumentException.class)
				.hasMessageContaining("TransactionAwareDataSourceProxy")
				.hasMessageContaining("target data source");
		}
	}

	@Test
	void eachStepIsCommittedWhateverThePoolSays() throws SQLException {
		try (HikariDataSource manual = H2.pool((config) -> {
			config.setAutoCommit(false);
			config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
			config.setMaximumPoolSize(2);
		}); JdbcLockBackend store = backend(manual)) {
			assertThat(store.acquire(claim("k", "a")).acquired()).isTrue();
			try (Connection first = manual.getConnection(); Connection second = manual.getConnection()) {
				assertThat(List.of(first.getAutoCommit(), second.getAutoCommit())).containsOnly(false);
				assertThat(List.of(first.getTransactionIsolation(), second.getTransactionIsolation()))
					.containsOnly(Connection.TRANSACTION_SERIALIZABLE);
				assertThat(new JdbcTemplate(manual(first)).queryForObject("select count(*) from distributed_lock",
						Integer.class))
					.isOne();
			}
			assertThat(store.release("k", OWNER)).isTrue();
		}
	}

	// A pool need not restore what a borrower has changed.
	@Test
	void connectionIsGivenBackAsItWas() throws SQLException {
		try (Connection connection = this.pool.getConnection()) {
			connection.setAutoCommit(false);
			connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
			try (JdbcLockBackend store = backend(manual(connection))) {
				assertThat(store.acquire(claim("k", "a")).acquired()).isTrue();
			}
			assertThat(connection.getAutoCommit()).isFalse();
			assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
		}
	}

	private static LocalDateTime now() {
		return LocalDateTime.now(ZoneOffset.UTC);
	}

	private static DataSource manual(Connection connection) {
		return new SingleConnectionDataSource(connection, true);
	}

	// Keys

	@Test
	void peopleCanReadTheTable() {
		this.backend.acquire(claim("order:\u00e9", "a"));
		assertThat(this.database.queryForMap("select * from distributed_lock"))
			.containsEntry("readable_key", "order:\u00e9")
			.containsEntry("holders", "exclusive held by " + OWNER)
			.containsEntry("waiters", "-")
			.hasEntrySatisfying("ends_at",
					(end) -> assertThat(((Timestamp) end).toLocalDateTime()).isBetween(now(), now().plus(LEASE)));
	}

	@ParameterizedTest
	@MethodSource("keysThatCannotBeKept")
	void aKeyThatCannotBeKeptIsRefusedBeforeAnyConnection(String key, String problem) {
		JdbcLockBackend store = backend(new DelegatingDataSource() {

			@Override
			public Connection getConnection() {
				throw new IllegalStateException("A connection was borrowed");
			}

		});
		LockEngine engine = LockEngine.builder(store).build();
		for (ThrowingCallable step : List.<ThrowingCallable>of(() -> engine.acquire(key),
				() -> engine.acquire(LockRequest.of("k", key)), () -> engine.inspect(key),
				() -> store.acquire(claim(key, "a")))) {
			assertThatThrownBy(step).isInstanceOf(IllegalArgumentException.class)
				.hasMessageContainingAll("Lock key '", problem);
		}
		engine.close();
	}

	@Test
	void aLongNameOfAnApplicationFits() {
		try (LockEngine engine = LockEngine.builder(this.backend).application("shop".repeat(150)).build();
				LockHandle handle = engine.acquire("k")) {
			assertThat(handle.owner()).startsWith("shop".repeat(32) + "@");
		}
	}

	static Stream<Arguments> keysThatCannotBeKept() {
		return Stream.of(Arguments.of("a\0b", "leave out NUL"), Arguments.of("a\ud800", "half surrogate pairs"),
				Arguments.of("\u00e9".repeat(501), "has 1002 bytes"));
	}

	@Test
	void theLongestKeyIsKeptWhole() {
		String longest = "\u00e9".repeat(Platform.LONGEST_KEY / 2);
		assertThat(this.backend.acquire(claim(longest, "a")).acquired()).isTrue();
		assertThat(this.backend.inspect(longest).isFree()).isFalse();
		assertThat(this.backend.acquire(claim(longest.substring(1), "b")).acquired()).as("another one").isTrue();
		assertThat(this.backend.release(longest, OWNER)).isTrue();
	}

	// Turns

	@Test
	void theDeadOfLongAgoReserveNothing() {
		JdbcLockBackend stopped = atOneMoment();
		stopped.acquire(claim("k", "a"));
		stopped.acquireOrRegister(claim("k", "dead"));
		stopped.acquireOrRegister(claim("k", "dead-too"));
		silence(Duration.ofSeconds(3));
		stopped.acquireOrRegister(claim("k", "b"));
		stopped.release("k", OWNER);
		assertThat(stopped.acquire(claim("k", "b")).acquired()).isTrue();
		stopped.release("k", "b:1");
		assertThat(stopped.acquire(claim("k", "c")).acquired()).isTrue();
	}

	@Test
	void aWaiterThatPollsKeepsItsPlaceAndSeldomWrites() {
		JdbcLockBackend stopped = atOneMoment();
		stopped.acquire(claim("k", "a"));
		stopped.acquireOrRegister(claim("k", "b"));
		stopped.acquireOrRegister(claim("k", "c"));
		for (int i = 0; i < 3; i++) {
			silence(Duration.ofSeconds(1));
			stopped.acquireOrRegister(claim("k", "c"));
			stopped.acquireOrRegister(claim("k", "b"));
		}
		Long before = this.database.queryForObject("select version from distributed_lock", Long.class);
		stopped.acquireOrRegister(claim("k", "b"));
		assertThat(this.database.queryForObject("select version from distributed_lock", Long.class)).isEqualTo(before);
		assertThat(stopped.inspect("k").waiters()).extracting(LockStatus.Waiter::instance).containsExactly("b", "c");
	}

	/**
	 * A store for whose steps the clock of the database stands still, so that they take
	 * no time on a machine that stands still.
	 */
	private JdbcLockBackend atOneMoment() {
		String now = "timestamp '"
				+ this.database.queryForObject("select " + Platform.H2.now, Timestamp.class).toLocalDateTime() + "'";
		return backend(
				Watched.connections(this.pool, (connection, method, arguments) -> method.equals("prepareStatement")
						? connection.prepareStatement(((String) arguments[0]).replace(Platform.H2.now, now)) : null));
	}

	/**
	 * Lets the row look as if nobody had polled for some time.
	 */
	private void silence(Duration time) {
		String waiters = this.database.queryForObject("select waiters from distributed_lock", String.class);
		this.database.update("update distributed_lock set waiters = ?",
				Pattern.compile("\\S+Z")
					.matcher(waiters)
					.replaceAll((moment) -> Instant.parse(moment.group()).minus(time).toString()));
	}

	// Time

	/**
	 * A JVM whose clock is wrong by an hour does no harm.
	 */
	@Test
	void onlyTheClockOfTheDatabaseCounts() {
		noClasses().that()
			.resideInAPackage(JdbcLockBackend.class.getPackageName())
			.should()
			.callMethod(System.class, "currentTimeMillis")
			.orShould()
			.dependOnClassesThat()
			.belongToAnyOf(Instant.class, Clock.class, Timestamp.class)
			.check(new ClassFileImporter()
				.importUrl(JdbcLockBackend.class.getProtectionDomain().getCodeSource().getLocation()));
	}

	@Test
	void rowsOfKeysThatAreFreeForLongAreDeleted() {
		for (String key : List.of("owned", "recent", "old", "fenced", "old fenced")) {
			this.backend.acquireOrRegister(claim(key, "a").fenced(key.contains("fenced")));
			if (!key.equals("owned")) {
				this.backend.release(key, OWNER);
			}
		}
		age("old", Duration.ofMinutes(11));
		age("fenced", Duration.ofMinutes(11));
		age("old fenced", Duration.ofHours(25));
		this.database.update("update distributed_lock set sweep_at = timestamp '1970-01-01 00:00:00'");
		this.backend.deleteExpired();
		assertThat(this.database.queryForList("select readable_key from distributed_lock", String.class))
			.containsExactlyInAnyOrder("owned", "recent", "fenced");
	}

	@Test
	void rowsBehindManyThatStayAreDeleted() {
		this.backend.acquire(claim("owned", "a"));
		this.database.update("insert into distributed_lock (lock_key, holders, ends_at, waiters, fencing_token,"
				+ " version, sweep_at) select stringtoutf8('owned' || x), holders, ends_at, waiters, fencing_token,"
				+ " version, timestamp '1970-01-01 00:00:00' from distributed_lock, system_range(1, ?)",
				Statements.MOST_ROWS);
		this.backend.acquire(claim("old", "a"));
		this.backend.release("old", OWNER);
		age("old", Duration.ofMinutes(11));
		this.database.update(
				"update distributed_lock set sweep_at = timestamp '1970-01-02 00:00:00' where readable_key = 'old'");
		this.backend.deleteExpired();
		assertThat(this.database.queryForObject("select count(*) from distributed_lock where readable_key = 'old'",
				Integer.class))
			.isZero();
	}

	@Test
	void aRowIsSweptWhenItMayBeDeletedAndNotBefore() {
		for (String key : List.of("held", "free", "fenced")) {
			this.backend.acquire(claim(key, "a").fenced(key.equals("fenced")));
		}
		this.backend.release("free", OWNER);
		for (boolean swept : List.of(false, true)) {
			assertThat(keptFor("fenced")).as("fenced, swept: %s", swept)
				.isBetween(Duration.ofHours(23), Duration.ofHours(24));
			this.database.update("update distributed_lock set sweep_at = timestamp '1970-01-01 00:00:00'");
			this.backend.deleteExpired();
			assertThat(keptFor("free")).isEqualTo(Duration.ofMinutes(10));
			assertThat(keptFor("held")).isEqualTo(Duration.ofMinutes(10));
		}
	}

	/**
	 * Returns for how long the sweep spares the row of a key after the lease has ended.
	 */
	private Duration keptFor(String key) {
		return Duration.of(this.database.queryForObject(
				"select datediff(microsecond, ends_at, sweep_at) from distributed_lock where readable_key = ?",
				Long.class, key), ChronoUnit.MICROS);
	}

	@Test
	void aTokenIsGreaterThoughTheRowIsGone() {
		Long before = this.backend.acquire(claim("k", "a").fenced(true)).fencingToken();
		this.database.update("delete from distributed_lock");
		Long after = this.backend.acquire(claim("k", "a").fenced(true)).fencingToken();
		assertThat(after).isGreaterThan(before);
	}

	private void age(String key, Duration age) {
		this.database.update(
				"update distributed_lock set ends_at = dateadd(microsecond, -?, ends_at) where readable_key = ?",
				Statements.micros(age), key);
	}

	// States that cannot be read

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
			holders | exclusive owned by b:1 | 'exclusive owned by b:1' describes no holder
			holders | shared held by b:1; nobody | 'nobody' describes no holder
			holders | free | 'free' describes no holder
			waiters | exclusive b for ever | 'exclusive b for ever' describes no waiter
			waiters | last heard today | 'today' is no time
			""")
	void aStateThatCannotBeReadIsNeverTakenForFree(String column, String text, String found) {
		this.backend.acquireOrRegister(claim("k", "b"));
		this.backend.release("k", "b:1");
		this.database.update("update distributed_lock set " + column + " = ?", text);
		Claim claim = claim("k", "a");
		for (ThrowingCallable step : List.<ThrowingCallable>of(() -> this.backend.acquire(claim),
				() -> this.backend.acquireOrRegister(claim), () -> this.backend.release("k", "b:1"),
				() -> this.backend.pass("b:1", claim, true), () -> this.backend.inspect("k"),
				() -> this.backend.leaveToExpire("k", "b:1", LEASE))) {
			LockBackendException refusal = catchThrowableOfType(LockBackendException.class, step);
			assertThat(refusal).hasMessageContainingAll("lock 'k'", found, "delete what is kept of the key");
			assertThat(refusal.isRetryable()).isFalse();
			assertThat(refusal.isWithoutEffect()).isTrue();
		}
		assertThat(this.database.queryForObject("select " + column + " from distributed_lock", String.class))
			.isEqualTo(text);
	}

	@Test
	void aStateThatCannotBeReadCostsNoOtherLock() {
		List<Claim> claims = List.of(claim("a", "a"), claim("b", "a"), claim("c", "a"));
		claims.forEach(this.backend::acquire);
		this.database.update("update distributed_lock set holders = 'anybody' where readable_key = 'b'");
		assertThat(this.backend.renew(claims.stream().map(Renewal::of).toList())).containsExactly(true, false, true);
	}

	// Renewals

	@Test
	void readersAndPermitsAreRenewedOneByOneAndOwnersTogether() {
		List<Claim> readers = List.of(claim("shared", "a").mode(LockMode.SHARED),
				claim("shared", "b").mode(LockMode.SHARED));
		List<Claim> permits = List.of(claim("limited", "a").permits(2), claim("limited", "b").permits(2));
		List<Claim> owners = List.of(claim("k", "a"), claim("another", "a"));
		List<Claim> all = Stream.of(readers, permits, owners).flatMap(List::stream).toList();
		all.forEach((claim) -> assertThat(this.backend.acquire(claim).acquired()).isTrue());
		assertThat(this.backend.downgrade("another", OWNER)).isTrue();
		List<Renewal> renewals = all.stream()
			.map((claim) -> new Renewal(claim.key(), claim.owner(), LEASE.multipliedBy(2), claim.mode()))
			.toList();
		assertThat(this.backend.renew(renewals)).hasSize(all.size()).containsOnly(true);
		for (Claim claim : all) {
			assertThat(this.backend.inspect(claim.key()).holders())
				.allMatch((holder) -> holder.remaining().compareTo(LEASE) > 0, "renewed: " + claim.key());
		}
	}

	// Start-up

	@ParameterizedTest
	@ValueSource(strings = { "shop.locks", "KNOWN_LOCK_PAIRS", "TABLE_HELD" })
	void theTableMayHaveAnyName(String table) {
		this.database.execute("create schema if not exists shop");
		this.database.execute(Platform.H2.schema(table));
		try (JdbcLockBackend store = new JdbcLockBackend(this.pool, Patient.SETTINGS.table(table))) {
			store.check();
			DatabaseSettingsTests.exclusive(store, store, "k");
		}
	}

	@Test
	void aTableThatIsMissingIsNamedWithTheStatementToRun() {
		this.database.execute("drop table distributed_lock");
		assertThat(refusalOfCheck(this.backend))
			.hasMessageContaining("run: create table if not exists distributed_lock");
	}

	@Test
	void aColumnThatIsMissingIsNamed() {
		this.database.execute("alter table distributed_lock drop column waiters");
		assertThat(refusalOfCheck(this.backend)).hasMessageContaining("waiters").hasMessageContaining("create table");
	}

	@ParameterizedTest
	@MethodSource("rights")
	void aRightThatIsMissingIsNamedWithTheStatementToRun(String granted) {
		String url = this.pool.getJdbcUrl().split(";", 2)[0]; // Settings take more
																// rights.
		this.database.execute("create user app password ''");
		this.database.execute("grant " + granted + " on distributed_lock to app");
		try (JdbcLockBackend store = backend(new DelegatingDataSource(this.pool) {

			@Override
			public Connection getConnection() throws SQLException {
				return DriverManager.getConnection(url, "app", "");
			}

		})) {
			assertThat(refusalOfCheck(store)).hasMessageContaining("grant select, insert, update, delete");
		}
	}

	static Stream<String> rights() {
		return Stream.of("insert, update, delete", "select, update, delete", "select, insert, delete",
				"select, insert, update");
	}

	@Test
	void anotherDatabaseIsRefusedByName() {
		DatabaseMetaData oracle = (DatabaseMetaData) Proxy.newProxyInstance(getClass().getClassLoader(),
				new Class<?>[] { DatabaseMetaData.class }, (proxy, method, arguments) -> "Oracle");
		assertThatThrownBy(() -> Platform.of(oracle)).isInstanceOf(LockBackendException.class)
			.hasMessageContaining("Oracle")
			.hasMessageContaining("PostgreSQL");
	}

	@Test
	void nothingIsHeardFromADatabaseThatDoesNotNotify() {
		Listening listening = this.backend.listen("a", new Ear());
		assertThat(listening.isKnown()).isFalse();
		this.backend.check();
		assertThat(listening.isKnown()).isTrue();
		assertThat(listening.hears()).isFalse();
	}

	private static LockBackendException refusalOfCheck(JdbcLockBackend store) {
		LockBackendException refusal = catchThrowableOfType(LockBackendException.class, store::check);
		assertThat(refusal).isNotNull();
		assertThat(refusal.isRetryable()).isFalse();
		assertThat(refusal.isWithoutEffect()).isTrue();
		return refusal;
	}

	// Lost answers

	@Test
	void aRequestWhoseAnswerGotLostFindsItsOwnLock() {
		AtomicBoolean loses = new AtomicBoolean();
		try (JdbcLockBackend store = backend(losing(loses)); LockEngine engine = LockEngine.builder(store).build()) {
			loses.set(true);
			LockHandle handle = engine.acquire(LockRequest.of("k").waitTime(Duration.ofMinutes(5)));
			assertThat(loses).isFalse();
			handle.close();
			Awaitility.await().until(() -> this.backend.inspect("k").isFree());
		}
	}

	@Test
	void aLostAnswerLeavesNoLockBehindARequestThatDoesNotWait() {
		AtomicBoolean loses = new AtomicBoolean();
		try (JdbcLockBackend store = backend(losing(loses)); LockEngine engine = LockEngine.builder(store).build()) {
			loses.set(true);
			LockBackendException failure = catchThrowableOfType(LockBackendException.class,
					() -> engine.acquire(LockRequest.of("k").waitTime(Duration.ZERO)));
			assertThat(failure.isWithoutEffect()).as("known not to be carried out").isFalse();
			Awaitility.await().until(() -> this.backend.inspect("k").isFree());
		}
	}

	@Test
	void renewalsGoOnWhenTheirConnectionWasEnded() {
		AtomicBoolean loses = new AtomicBoolean();
		try (JdbcLockBackend store = backend(losing(loses))) {
			Claim claim = claim("k", "a");
			store.acquire(claim);
			assertThat(store.renew(List.of(Renewal.of(claim)))).containsExactly(true);
			loses.set(true);
			assertThat(store.renew(List.of(Renewal.of(claim)))).containsExactly(true);
			assertThat(loses).isFalse();
		}
	}

	@Test
	void renewalsGoOnThoughThePoolIsExhausted() throws SQLException {
		try (HikariDataSource small = H2.pool((config) -> {
			config.setMaximumPoolSize(2);
			config.setConnectionTimeout(250);
		}); JdbcLockBackend store = backend(small)) {
			// On a busy machine, a connection is not opened in 250 ms.
			Awaitility.await().until(() -> small.getHikariPoolMXBean().getTotalConnections() == 2);
			store.check();
			Claim claim = claim("k", "a");
			store.acquire(claim);
			try (Connection last = small.getConnection()) {
				assertThat(last.isClosed()).isFalse();
				LockBackendException failure = catchThrowableOfType(LockBackendException.class,
						() -> store.acquire(claim("other", "a")));
				assertThat(failure).hasMessageContaining("let the pool have more connections");
				assertThat(failure.isRetryable()).isTrue();
				assertThat(failure.isWithoutEffect()).isTrue();
				assertThat(store.renew(List.of(Renewal.of(claim)))).containsExactly(true);
			}
		}
	}

	/**
	 * Connections of the database, one of which ends after a change was carried out.
	 */
	private DataSource losing(AtomicBoolean once) {
		return Watched.connections(this.pool, (connection, method, arguments) -> {
			if (!method.equals("prepareStatement")) {
				return null;
			}
			PreparedStatement statement = connection.prepareStatement((String) arguments[0]);
			return Watched.object(PreparedStatement.class, statement, (step, values) -> {
				if (step.equals("execute") && once.getAndSet(false)) {
					statement.execute();
					connection.abort(Runnable::run);
					throw new SQLNonTransientConnectionException("The connection was cut", "08006");
				}
				return null;
			});
		});
	}

	// Failures

	@ParameterizedTest
	@MethodSource("failures")
	void aFailureMeansWhatItsCodeSays(String state, int code, boolean retryable, boolean withoutEffect,
			boolean endsTheConnection) {
		SQLException failure = new SQLException("Failed", state, code);
		LockBackendException meaning = SqlFailures.of("acquire lock 'k'", failure,
				new Statements(Platform.MYSQL, JdbcLockSettings.defaults()));
		assertThat(meaning.isRetryable()).as("retryable").isEqualTo(retryable);
		assertThat(meaning.isWithoutEffect()).as("without effect").isEqualTo(withoutEffect);
		assertThat(SqlFailures.isOfConnection(failure)).as("ends the connection").isEqualTo(endsTheConnection);
	}

	@Test
	void onlyAKeyThatIsThereAlreadyIsADuplicate() {
		assertThat(SqlFailures.isDuplicate(new SQLException("Twice", "23505", 0))).isTrue();
		assertThat(SqlFailures.isDuplicate(new SQLException("Twice", "23000", 1062))).isTrue();
		assertThat(SqlFailures.isDuplicate(new SQLException("No text", "23502", 0))).isFalse();
	}

	static Stream<Arguments> failures() {
		return Stream.of(Arguments.of("40001", 0, true, true, false), // serialization
				Arguments.of("40P01", 0, true, true, false), // deadlock of PostgreSQL
				Arguments.of("40001", 1213, true, true, false), // deadlock of MySQL
				Arguments.of("HY000", 1205, true, true, false), // lock wait time-out
				Arguments.of("53300", 0, true, true, false), // too many connections
				Arguments.of("42000", 1226, true, true, false), // of one user of MySQL
				Arguments.of("25006", 0, true, true, true), // a replica of PostgreSQL
				Arguments.of("HY000", 1290, true, true, true), // a replica of MySQL
				Arguments.of("42501", 0, false, true, false), // no right
				Arguments.of("42000", 1142, false, true, false), // no right in MySQL
				Arguments.of("22001", 0, false, true, false), // too long
				Arguments.of("23502", 0, false, true, false), // a text that is missing
				Arguments.of("08006", 0, true, false, true), // lost
				Arguments.of("08S01", 0, true, false, true), // lost, in MySQL
				Arguments.of("57P01", 0, true, false, true), // the server shuts down
				Arguments.of("40003", 0, true, false, true), // not known
				Arguments.of("HY000", 0, true, false, true), // anything else
				Arguments.of(null, 0, true, false, true));
	}

}
