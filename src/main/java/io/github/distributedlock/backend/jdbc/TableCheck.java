package io.github.distributedlock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder.State;
import io.github.distributedlock.backend.KeyState;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.backend.OptimisticLockBackend.Read;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tries out the table before the first lock, whoever has made the table: keys that are
 * nearly alike, the longest values, and each kind of statement. All trials are one
 * transaction, which is rolled back. What the table does counts, not how the table is
 * declared, except for what only a crash would show.
 */
final class TableCheck {

	private static final Logger logger = LoggerFactory.getLogger(TableCheck.class);

	private static final Duration LEASE = Duration.ofMinutes(1);

	/**
	 * The endings of keys that a collation may take for equal.
	 */
	private static final List<String> ENDINGS = List.of("e", "E", "e ", "\u00e9", "e\u0301", "\ud83d\ude00");

	/**
	 * How many holders and waiters the columns have to hold.
	 */
	private static final int MOST = 100;

	private final Session session;

	private final Statements sql;

	/**
	 * Keys that nobody else uses.
	 */
	private final List<String> keys;

	private TableCheck(Session session) {
		this.session = session;
		this.sql = session.sql();
		String key = "distributed-lock-check-" + UUID.randomUUID() + "-";
		String longest = key + "x".repeat(Platform.LONGEST_KEY - 1 - key.length());
		this.keys = Stream.concat(ENDINGS.stream().map(key::concat), Stream.of(longest + "y", longest + "z")).toList();
	}

	/**
	 * Checks the table.
	 * @throws LockBackendException if locks cannot be kept in the table, with the
	 * statement that mends it
	 * @throws SQLException if a statement fails
	 */
	static void run(Session session) throws SQLException {
		TableCheck check = new TableCheck(session);
		check.hasSchema();
		try {
			check.survivesCrashes();
			check.tryOutAndRollBack();
		}
		catch (SQLException | LockBackendException ex) {
			if (check.isHiddenInPart(ex)) {
				throw check.hidden(ex);
			}
			if (ex instanceof SQLException failure && SqlFailures.isOfMissingTable(failure)
					&& check.sql.table.indexOf('.') < 0) {
				check.isNotElsewhere(failure);
			}
			throw ex;
		}
		if (session.read(check.keys.get(1)).version() != Session.ABSENT) {
			for (String key : check.keys) {
				session.delete(key, session.read(key).version());
			}
			throw check.refusal("keeps rows that were rolled back: its engine knows no transactions",
					"alter table " + check.sql.table + " engine = InnoDB");
		}
		check.isSweptByIndex();
	}

	/**
	 * Requires a current schema: without a schema, PostgreSQL cannot create the table
	 * either.
	 */
	private void hasSchema() throws SQLException {
		if (this.sql.platform == Platform.POSTGRESQL && this.sql.table.indexOf('.') < 0
				&& this.session.value("select current_schema()") == null) {
			throw LockBackendException
				.of("There is no schema for the table " + this.sql.table + ": search_path is "
						+ this.session.value("show search_path"))
				.remedy("run: create schema …, or correct currentSchema in spring.datasource.url, or name the schema in"
						+ " distributed-lock.jdbc.table")
				.withoutEffect(true)
				.build();
		}
	}

	/**
	 * Refuses a table that is in a schema in which the user does not look.
	 */
	private void isNotElsewhere(SQLException missing) throws SQLException {
		String table = this.sql.table;
		// PostgreSQL keeps the case of names that were written in quotes.
		String column = (this.sql.platform == Platform.POSTGRESQL) ? "table_name" : "lower(table_name)";
		String schema = this.session.value("select min(table_schema) from information_schema.tables where " + column
				+ " = '" + table.toLowerCase(Locale.ROOT) + "'");
		if (schema != null) {
			String found = schema + "." + table;
			throw LockBackendException
				.of(LockException.printable(
						"There is a table " + found + ", but none where the user looks: " + missing.getMessage()))
				.remedy("set distributed-lock.jdbc.table=" + found + " if that is the table of the locks, or run: "
						+ this.sql.platform.schema(table))
				.withoutEffect(true)
				.cause(missing)
				.build();
		}
	}

	/**
	 * Returns whether policies of PostgreSQL choose the rows that this user may use. Such
	 * a refusal has the SQLState of a right that is missing.
	 */
	private boolean isHiddenInPart(Exception failure) {
		try {
			return this.sql.platform == Platform.POSTGRESQL && "t"
				.equals(this.session.value(this.sql.text("select row_security_active(to_regclass('{table}')::oid)")));
		}
		catch (SQLException ex) {
			failure.addSuppressed(ex);
			return false;
		}
	}

	private LockBackendException hidden(Exception failure) {
		return LockBackendException
			.of("The table " + this.sql.table + " has row-level security, which keeps rows from the user of the locks: "
					+ LockException.printable(String.valueOf(failure.getMessage())))
			.remedy("run: alter table " + this.sql.table + " disable row level security")
			.withoutEffect(true)
			.cause(failure)
			.build();
	}

	private void survivesCrashes() throws SQLException {
		if (this.sql.platform == Platform.POSTGRESQL) {
			String persistence = this.session
				.value(this.sql.text("select relpersistence from pg_class where oid = '{table}'::regclass"));
			if ("u".equals(persistence)) {
				throw refusal("is unlogged: PostgreSQL empties it after a crash, while locks are held",
						"alter table " + this.sql.table + " set logged");
			}
			if ("t".equals(persistence)) {
				throw refusal("is temporary: each connection has another one", null);
			}
		}
	}

	private void tryOutAndRollBack() throws SQLException {
		Connection connection = this.session.connection();
		connection.setAutoCommit(false);
		try {
			tryOut();
		}
		catch (SQLException | RuntimeException ex) {
			try {
				rollBack(connection);
			}
			catch (SQLException unended) {
				ex.addSuppressed(unended);
			}
			throw ex;
		}
		rollBack(connection);
	}

	private static void rollBack(Connection connection) throws SQLException {
		connection.rollback();
		connection.setAutoCommit(true);
	}

	private void tryOut() throws SQLException {
		Map<String, KeyState> written = new LinkedHashMap<>();
		for (String key : this.keys) {
			KeyState longest = longestState(written.size());
			if (!this.session.write(key, nothing(written.size()), longest)) {
				throw refusal("takes '" + LockException.printable(key) + "' for the same key as one of "
						+ written.keySet().stream().map(LockException::printable).toList(), null);
			}
			written.put(key, longest);
		}
		keepsTimesOfUtc();
		for (String key : List.of(this.keys.get(0), this.keys.get(this.keys.size() - 1))) {
			if (!isKept(key, Objects.requireNonNull(written.get(key)))) {
				throw refusal("does not keep the longest values as they are written", null);
			}
		}
		if (this.session.write(this.keys.get(0), nothing(written.size()), longestState(written.size()))) {
			throw refusal("takes a key twice, so that a lock could have two owners", "delete from " + this.sql.table
					+ ", and then: alter table " + this.sql.table + " add primary key (lock_key)");
		}
		tryOutSteps();
	}

	/**
	 * Requires a column without a time zone: PostgreSQL would read a time with a zone
	 * differently in each session.
	 */
	private void keepsTimesOfUtc() throws SQLException {
		if (this.sql.platform == Platform.POSTGRESQL && "timestamp with time zone".equals(this.session.value(
				this.sql.text("select pg_typeof(ends_at)" + " from {table} where lock_key = ?"), this.keys.get(0)))) {
			throw refusal("has a time zone in ends_at", "alter table " + this.sql.table
					+ " alter ends_at type timestamp(6) using ends_at at time zone 'UTC'");
		}
	}

	private static Read nothing(int number) {
		return new Read(KeyState.FREE, Session.LATEST + number, Session.ABSENT);
	}

	private boolean isKept(String key, KeyState written) throws SQLException {
		try {
			return this.session.read(key).state().equals(written);
		}
		catch (IllegalArgumentException ex) {
			return false; // The text was cut off, or has other characters.
		}
	}

	/**
	 * Acquires, renews and releases, and checks that each step changes only its own row.
	 */
	private void tryOutSteps() throws SQLException {
		// Only two keys, since on some drivers all steps together have the time of one
		// command.
		List<Claim> claims = this.keys.stream().limit(2).map((key) -> Claim.of(key, "a:1", "a", LEASE)).toList();
		for (Claim claim : claims) {
			require(this.session.write(claim.key(), this.session.read(claim.key()), KeyState.FREE), "free", claim);
			require(this.session.acquire(claim), "acquire", claim);
		}
		Claim first = claims.get(0);
		require(!this.session.acquire(Claim.of(first.key(), "b:1", "b", LEASE)), "refuse another owner", first);
		Duration longer = LEASE.multipliedBy(2);
		for (List<Claim> some : List.of(claims.subList(0, 1), claims)) {
			this.session.renew(some.stream().map(Renewal::of).toList(), longer);
			Map<String, Read> reads = this.session.readAll(some.stream().map(Claim::key).toList());
			for (Claim claim : some) {
				Read read = Objects.requireNonNull(reads.get(claim.key()));
				require(isOwner(claim, read) && read.state().end() > read.now() + Statements.micros(LEASE), "renew",
						claim);
			}
			longer = longer.plus(LEASE);
		}
		require(this.session.releaseOrRead(first.key(), first.owner()) == null, "release", first);
		require(this.session.acquire(first), "acquire again", first);
		require(this.session.leaveToExpire(first.key(), first.owner(), LEASE), "leave to expire", first);
		require(this.session.delete(first.key(), this.session.read(first.key()).version()), "delete", first);
		for (Claim claim : claims.subList(1, claims.size())) {
			require(isOwner(claim, this.session.read(claim.key())), "keep", claim);
		}
	}

	private static boolean isOwner(Claim claim, Read read) {
		return read.state().holders().equals(KeyState.exclusiveHolder(claim.owner(), State.OWNER));
	}

	private void require(boolean done, String step, Claim claim) {
		if (!done) {
			throw refusal("could not " + step + " lock '" + claim.key() + "', which nobody else knows", null);
		}
	}

	/**
	 * Warns of a missing index: the sweep still works, but reads the whole table.
	 */
	private void isSweptByIndex() throws SQLException {
		String table = this.sql.table;
		String query = this.sql.text(switch (this.sql.platform) {
			case POSTGRESQL -> "select 1 from pg_index join pg_attribute on attrelid = indrelid"
					+ " and attnum = indkey[0] where attname = 'sweep_at' and indrelid = '{table}'::regclass";
			case H2 -> "explain select 1 from {table} where sweep_at < {now}";
			default -> "show index from {table} where Column_name = 'sweep_at' and Seq_in_index = 1";
		});
		String found = this.session.value(query);
		boolean indexed = found != null && !found.contains("tableScan");
		if (!indexed) {
			logger.warn(
					"The table {} has no index that begins with the column sweep_at, so that each sweep of old rows"
							+ " reads the whole table: run: alter table {} add {} (sweep_at, lock_key)",
					table, table, switch (this.sql.platform) {
						case POSTGRESQL, H2 -> "unique";
						default -> "index";
					});
		}
	}

	/**
	 * Returns a state that fills its columns. Names of owners and waiters are ASCII, so
	 * that a connection may have any character set.
	 */
	private static KeyState longestState(int number) {
		String name = "a-name@a-host/" + number + "#" + "i".repeat(100) + ":";
		String time = "2199-12-31T23:59:59.999999Z";
		String holders = IntStream.range(0, MOST)
			.mapToObj((each) -> "permit-999999999 held by " + name + each)
			.collect(Collectors.joining("; "));
		String waiters = IntStream.range(0, MOST)
			.mapToObj((each) -> "fair " + name + each + " since " + time + " heard " + time + " claim 1 of " + name
					+ each + " for 1000 ms made " + time)
			.collect(Collectors.joining("; "));
		return KeyState.of(holders, Session.LATEST + number, waiters + "; last heard " + time, Long.MAX_VALUE - number);
	}

	private LockBackendException refusal(String problem, @Nullable String statement) {
		return LockBackendException.of("The table " + this.sql.table + " " + problem)
			.remedy("stop all that use the table, and run: " + ((statement != null) ? statement
					: "drop table " + this.sql.table + ", and then: " + this.sql.platform.schema(this.sql.table)))
			.withoutEffect(true)
			.build();
	}

}
