package io.github.distributedlock.backend.jdbc;

import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Set;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what the failure of a statement means, by the SQLState and the vendor's code.
 */
final class SqlFailures {

	/**
	 * SQLStates of statements that were rolled back, since another transaction was in the
	 * way or the server was busy: a deadlock, a serialization failure, a lock that was
	 * not given in time, a statement that was cancelled, too many connections, a server
	 * that starts.
	 */
	private static final Set<String> PASSING = Set.of("40001", "40P01", "55P03", "57014", "57P03", "53000", "53100",
			"53200", "53300", "70100", "HYT00", "90131");

	/**
	 * Codes of MySQL and MariaDB for the same failures, whose SQLState is HY000: lock
	 * wait timeout, deadlock, record changed, too many connections, also of one user, a
	 * statement that was ended or ran for too long.
	 */
	private static final Set<Integer> PASSING_CODES = Set.of(1205, 1213, 1020, 1040, 1203, 1226, 1317, 1969, 3024);

	/**
	 * Codes of a server that has become a replica, or is read-only for another reason.
	 */
	private static final Set<Integer> READ_ONLY_CODES = Set.of(1290, 1792, 1836, 90097);

	private static final Set<String> CANCELLED = Set.of("57014", "70100");

	private static final Set<String> NO_TABLE = Set.of("42P01", "42S02", "42S03", "42S04", "3F000", "90079");

	private static final Set<String> NO_DATABASE = Set.of("3D000", "90013", "90146", "90149");

	/**
	 * The code of MySQL and MariaDB for an unknown database, whose SQLState is the state
	 * of a wrong statement.
	 */
	private static final Set<Integer> NO_DATABASE_CODES = Set.of(1049);

	private static final Set<String> NO_SCHEMA = Set.of("3F000", "90079");

	/**
	 * The code for a user of MySQL or MariaDB that may not use the database.
	 */
	private static final Set<Integer> NO_ENTRY_CODES = Set.of(1044);

	private static final Set<String> NO_COLUMN = Set.of("42703", "42S22");

	/**
	 * Codes of refusals of MySQL, MariaDB and H2 whose SQLState is not the state of a
	 * refusal: updates and queries that are too large or not safe, a variable that the
	 * server does not know, a binary log that cannot take a statement, literals that are
	 * not allowed, no such database or schema.
	 */
	private static final Set<Integer> REFUSAL_CODES = Set.of(1104, 1175, 1193, 1665, 90013, 90079, 90116, 90146, 90149);

	/**
	 * SQLStates of a table that lacks its primary key, checks that key late, has columns
	 * of other types, or has further columns that need a value.
	 */
	private static final Set<String> NO_FIT = Set.of("42P10", "42804", "55000", "23502");

	private static final Set<Integer> NO_RIGHT_CODES = Set.of(1142, 1143, 90040, 90096);

	/**
	 * The classes of SQLStates that are refusals: nothing was carried out, and the same
	 * will be refused again.
	 */
	private static final Set<String> REFUSALS = Set.of("0A", "21", "22", "23", "25", "28", "2F", "34", "3D", "3F", "42",
			"44", "54", "55");

	/**
	 * SQLStates of a timeout of a transaction or of a session, after which the server
	 * ends the connection.
	 */
	private static final Set<String> ENDED = Set.of("25P03", "25P04");

	private SqlFailures() {
	}

	static boolean isDuplicate(SQLException failure) {
		return state(failure).equals("23505") || failure.getErrorCode() == 1062;
	}

	/**
	 * Returns whether the server has ended a statement on request.
	 */
	static boolean isCancelled(SQLException failure) {
		return CANCELLED.contains(state(failure));
	}

	/**
	 * Returns whether the driver has waited for the server in vain.
	 */
	static boolean isOutOfTime(SQLException failure) {
		return LockException.causes(failure).stream().anyMatch(SocketTimeoutException.class::isInstance);
	}

	/**
	 * Returns whether the server refuses to write, so that the connection is of no use
	 * any more.
	 */
	static boolean isReadOnly(SQLException failure) {
		return state(failure).equals("25006") || isVendorCode(failure, READ_ONLY_CODES);
	}

	/**
	 * Returns whether the connection may be broken, or may lead to the wrong server.
	 */
	static boolean isOfConnection(SQLException failure) {
		return isReadOnly(failure) || !(isPassing(failure) || isRefusal(failure));
	}

	/**
	 * Returns whether the statement may have been carried out, or may still be.
	 */
	static boolean isUnanswered(SQLException failure) {
		return isOfConnection(failure) && !isReadOnly(failure);
	}

	private static boolean isPassing(SQLException failure) {
		return PASSING.contains(state(failure)) || isVendorCode(failure, PASSING_CODES);
	}

	private static boolean isRefusal(SQLException failure) {
		String state = state(failure);
		return (state.length() == 5 && REFUSALS.contains(state.substring(0, 2)) && !ENDED.contains(state))
				|| isVendorCode(failure, NO_RIGHT_CODES) || isVendorCode(failure, REFUSAL_CODES);
	}

	// The codes of H2 lie in the same range; each is the number of the SQLState.
	private static boolean isVendorCode(SQLException failure, Set<Integer> codes) {
		return codes.contains(failure.getErrorCode());
	}

	private static String state(SQLException failure) {
		String state = failure.getSQLState();
		return (state != null) ? state : "";
	}

	/**
	 * Returns the failure of a caller that got no connection.
	 * @param usedUp whether all connections of the pool are lent, {@code null} if that is
	 * not known
	 */
	static LockBackendException notConnected(SQLException failure, @Nullable Boolean usedUp) {
		SQLException said = said(failure);
		return LockBackendException
			.of(LockException.printable("No connection for locks could be had: " + said.getMessage()))
			.remedy(remedy(said, usedUp))
			.retryable(isPassing(said) || !(isRefusal(said) || isEntryRefused(said)))
			.withoutEffect(true)
			.cause(failure)
			.build();
	}

	/**
	 * Returns the failure of a pool that has not even tried to connect, for example since
	 * there is no driver for the URL.
	 * @param had whether the pool has connected before
	 */
	static LockBackendException withoutDriver(RuntimeException failure, boolean had) {
		// The message of the pool is "Failed to get driver instance".
		boolean driver = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT).contains("driver");
		return LockBackendException
			.of(LockException.printable("No connection for locks could be had: "
					+ ((failure.getMessage() != null) ? failure.getMessage() : failure.toString())))
			.remedy(driver
					? "correct spring.datasource.url, and see that the driver of that database is on the class path"
					: "see what that data source needs before it gives a connection: locks are also requested at the start and outside of"
							+ " transactions")
			.retryable(had || !driver)
			.withoutEffect(true)
			.cause(failure)
			.build();
	}

	/**
	 * Returns whether the server, or PostgreSQL's driver, refuses the login of the user.
	 */
	private static boolean isEntryRefused(SQLException failure) {
		return state(failure).startsWith("28") || state(failure).equals("08004");
	}

	/**
	 * Returns whether the server knows no such table.
	 */
	static boolean isOfMissingTable(SQLException failure) {
		return NO_TABLE.contains(state(failure));
	}

	/**
	 * Returns the failure of the server or the driver. A pool that could not open a
	 * connection in time throws with its own words, and the vendor's code stands only in
	 * the cause.
	 */
	private static SQLException said(SQLException failure) {
		SQLException said = failure;
		for (Throwable cause : LockException.causes(failure)) {
			if (cause instanceof SQLException deeper) {
				said = deeper;
			}
		}
		return said;
	}

	private static String remedy(SQLException notConnected, @Nullable Boolean usedUp) {
		String state = state(notConnected);
		if (isPassing(notConnected)) {
			return state.equals("57P03") ? "wait until the database has started"
					: "let the server have more connections, or make pools smaller, as by distributed-lock.jdbc.pool-size"
							+ " and spring.datasource.hikari.maximum-pool-size";
		}
		if (NO_DATABASE.contains(state) || isVendorCode(notConnected, NO_DATABASE_CODES)) {
			return "create the database, or correct its name in spring.datasource.url";
		}
		if (NO_SCHEMA.contains(state)) {
			return "create the schema, or correct its name in spring.datasource.url";
		}
		if (state.equals("42501") || isVendorCode(notConnected, NO_ENTRY_CODES)) {
			return "grant the user of spring.datasource.username the right to connect to the database of"
					+ " spring.datasource.url";
		}
		if (isEntryRefused(notConnected)) {
			return "correct spring.datasource.username and spring.datasource.password, and what spring.datasource.url"
					+ " says of SSL, or let the server accept this user from this machine";
		}
		if (Boolean.TRUE.equals(usedUp)) {
			return "all connections of the pool are in use: let the pool have more connections"
					+ " (distributed-lock.jdbc.pool-size, or spring.datasource.hikari.maximum-pool-size where locks use the"
					+ " connections of the application: there a thread in a transaction takes one more for its lock), or"
					+ " find out what keeps them";
		}
		boolean silent = state.isEmpty() || notConnected instanceof Calls.NoAnswerException;
		return "see that the database runs and answers, and that spring.datasource.url leads to it"
				+ (silent ? ", and whether the pool is large enough" : "");
	}

	/**
	 * Returns the failure of a statement.
	 * @param step the words for the step, with the key
	 */
	static LockBackendException of(String step, SQLException failure, Statements sql) {
		boolean readOnly = isReadOnly(failure);
		boolean passing = isPassing(failure);
		boolean refusal = isRefusal(failure) && !readOnly && !passing;
		return LockBackendException.of(LockException.printable("Could not " + step + ": " + failure.getMessage()))
			.remedy(readOnly
					? "connect to the server that accepts writes, in a session that neither spring.datasource.url nor a"
							+ " setting of the user, the database or the server makes read-only"
					: remedy(failure, sql))
			.retryable(!refusal)
			.withoutEffect(readOnly || passing || refusal)
			.cause(failure)
			.build();
	}

	private static @Nullable String remedy(SQLException failure, Statements sql) {
		String state = state(failure);
		if (NO_TABLE.contains(state) || isVendorCode(failure, NO_DATABASE_CODES)) {
			String schema = schema(sql.table);
			return "run: " + ((schema != null) ? "create schema if not exists " + schema + "; " : "")
					+ sql.platform.schema(sql.table);
		}
		if (NO_COLUMN.contains(state)) {
			return "if the table " + sql.table + " is that of something else, name another one in"
					+ " distributed-lock.jdbc.table; or else stop all that use the table, and run: drop table "
					+ sql.table + ", and then: " + sql.platform.schema(sql.table);
		}
		if (state.startsWith("22") || NO_FIT.contains(state)) {
			return "compare the table with: " + sql.platform.schema(sql.table);
		}
		if (state.equals("42501") || isVendorCode(failure, NO_RIGHT_CODES)) {
			String schema = (sql.platform == Platform.POSTGRESQL) ? schema(sql.table) : null;
			return "run, for the user of the application: "
					+ ((schema != null) ? "grant usage on schema " + schema + " to …; " : "")
					+ "grant select, insert, update, delete on " + sql.table + " to …";
		}
		return null;
	}

	private static @Nullable String schema(String table) {
		int dot = table.indexOf('.');
		return (dot >= 0) ? table.substring(0, dot) : null;
	}

}
