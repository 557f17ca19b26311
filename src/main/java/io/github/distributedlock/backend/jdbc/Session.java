package io.github.distributedlock.backend.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder.State;
import io.github.distributedlock.backend.KeyState;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.backend.OptimisticLockBackend.Read;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out the statements on one connection. Each statement is committed by itself, so
 * that a JVM that is paused between two statements keeps no row locked.
 */
record Session(Connection connection, Statements sql, Supervisor supervisor, RecentKeys recent) {

	private static final Logger logger = LoggerFactory.getLogger(Session.class);

	private static final String CANCELLED = "The statement was cancelled, since it ran for too long, and may have been"
			+ " carried out";

	/**
	 * The version that stands for a missing row.
	 */
	static final Object ABSENT = -1L;

	/**
	 * The latest time, in microseconds since 1970: in the year 2200, with all six digits
	 * of the microseconds. Every database and its functions can handle this time.
	 */
	static final long LATEST = 7_258_118_400_123_456L;

	/**
	 * Cancels statements that run for too long.
	 */
	interface Supervisor {

		Calls.Execution begin(Calls.Cancellation cancellation) throws SQLException;

		/**
		 * Returns a comment that marks the statements of this connection at the server.
		 */
		String tag();

		/**
		 * Records that the last statement may still be carried out, though the statement
		 * has failed here.
		 * @param hangs whether the server probably has the statement still: the server
		 * was asked in vain to cancel the statement, or has not answered in time
		 */
		void abandoned(boolean hangs);

		/**
		 * Records that the connection must not be used again.
		 */
		void broken();

	}

	/**
	 * A use of a prepared statement, or of the rows that the statement has found.
	 */
	private interface Use<A, T> {

		@Nullable T of(A argument) throws SQLException;

	}

	/**
	 * Gives a key that is free, and that nobody waits for, to the claim's owner alone.
	 * @return {@code false} if this statement cannot decide who gets the key
	 */
	boolean acquire(Claim claim) throws SQLException {
		String holder = KeyState.exclusiveHolder(claim.owner(), State.OWNER);
		long lease = Statements.micros(claim.lease());
		Object key = bind(claim.key());
		String insertOrTake = this.sql.insertOrTake;
		if (insertOrTake == null || this.recent.contains(claim.key())) {
			return changes(this.sql.take, holder, lease, key);
		}
		boolean taken = changes(insertOrTake, holder, lease, key, key);
		if (taken) {
			this.recent.add(claim.key(), false);
		}
		return taken;
	}

	/**
	 * Frees a key that its owner has alone, if nobody waits for the key. On PostgreSQL
	 * also grants the key to the oldest waiter if that waiter has claimed the key lately.
	 * @return {@code null} if the owner has left the key, else the row of the key
	 */
	@Nullable Read releaseOrRead(String key, String owner) throws SQLException {
		Object bound = bind(key);
		String holder = KeyState.exclusiveHolder(owner, State.OWNER);
		String releaseOrGrant = this.sql.releaseOrGrant;
		if (!(releaseOrGrant != null && this.recent.isAwaited(key)) && changes(this.sql.release, bound, holder)) {
			return null;
		}
		if (releaseOrGrant == null) {
			return read(key);
		}
		AtomicReference<@Nullable ReleaseNotification> granted = new AtomicReference<>();
		Read kept = query(releaseOrGrant, (row) -> {
			row.next();
			String given = row.getString(7);
			this.recent.add(key, !Statements.NOBODY.equals(given));
			if (given == null) {
				return read(row);
			}
			if (!given.equals(Statements.NOBODY)) {
				String next = given.substring(KeyState.exclusiveHolder("", State.OWNER).length());
				// The number of the claim was read before the grant. Since then the
				// waiter may have claimed the key once more, or another waiter may have
				// become the oldest.
				boolean same = next.equals(row.getString(8));
				Waiter waiter = Waiter.exclusive(Claim.instanceOf(next));
				granted.set(same ? ReleaseNotification.granted(key, waiter, next, row.getLong(9))
						: ReleaseNotification.of(key, waiter));
			}
			return null;
		}, bound, holder, bound);
		ReleaseNotification notification = granted.get();
		if (notification != null) {
			send(notification);
		}
		return kept;
	}

	/**
	 * Leaves a lease to expire if its owner has the key alone.
	 */
	boolean leaveToExpire(String key, String owner, Duration rest) throws SQLException {
		return changes(this.sql.leaveToExpire, KeyState.exclusiveHolder(owner, State.EXPIRING), Statements.micros(rest),
				bind(key), KeyState.exclusiveHolder(owner, State.OWNER));
	}

	/**
	 * Renews leases of owners that have their keys alone.
	 */
	void renew(List<Renewal> renewals, Duration lease) throws SQLException {
		List<Object> values = new ArrayList<>(List.of(Statements.micros(lease)));
		renewals.forEach((renewal) -> values.add(bind(renewal.key())));
		for (Renewal renewal : renewals) {
			values.add(bind(renewal.key()));
			values.add(KeyState.exclusiveHolder(renewal.owner(), State.OWNER));
		}
		changes(Statements.of(this.sql.renew, renewals.size()), values.toArray());
	}

	/**
	 * Reads the rows of some keys.
	 * @return the rows by key, without missing rows and rows that cannot be read
	 */
	Map<String, Read> readAll(Collection<String> keys) throws SQLException {
		Map<String, Read> reads = new HashMap<>();
		query(Statements.of(this.sql.readAll, keys.size()), (rows) -> {
			while (rows.next()) {
				String key = this.sql.platform.text(rows.getObject(7));
				try {
					reads.put(key, read(rows));
				}
				catch (IllegalArgumentException ex) {
					// The other keys must not be lost because of this one.
					logger.warn("The row of lock '{}' cannot be read, so that the lock is not renewed: {}",
							LockException.printable(key), LockException.printable(String.valueOf(ex.getMessage())));
				}
			}
			return reads;
		}, keys.stream().map(this::bind).toArray());
		return reads;
	}

	/**
	 * Ends sessions at the server whose connections were closed here.
	 * @param tags the marks of the statements of these sessions, not empty
	 * @return the marks of the sessions that the server still had
	 */
	Set<String> endStrays(Set<String> tags) throws SQLException {
		if (this.sql.platform == Platform.H2) {
			return Set.of(); // On H2 only an administrator may see sessions.
		}
		boolean postgres = this.sql.platform == Platform.POSTGRESQL;
		String column = postgres ? "query" : "info";
		String query = (postgres
				? "select query, pg_terminate_backend(pid) from pg_stat_activity where usename = current_user"
				: "select info, id from information_schema.processlist where id <> connection_id()") + " and ("
				+ String.join(" or ", Collections.nCopies(tags.size(), column + " like ?")) + ")";
		List<Long> hanging = new ArrayList<>();
		Set<String> left = new HashSet<>();
		query(query, (rows) -> {
			while (rows.next()) {
				String statement = rows.getString(1);
				tags.stream().filter(statement::startsWith).forEach(left::add);
				if (!postgres) {
					hanging.add(rows.getLong(2));
				}
			}
			return left;
		}, tags.stream().map((tag) -> tag + "%").toArray());
		for (long each : hanging) {
			execute("kill " + each);
		}
		return left;
	}

	/**
	 * Reads the row of a key.
	 * @throws IllegalArgumentException if the row holds no state of a key
	 */
	Read read(String key) throws SQLException {
		return Objects.requireNonNull(readOne(this.sql.read, bind(key)));
	}

	private @Nullable Read readOne(String statement, Object... values) throws SQLException {
		return query(statement, (row) -> row.next() ? read(row) : null, values);
	}

	private static Read read(ResultSet row) throws SQLException {
		String holders = row.getString(1);
		long now = row.getLong(6);
		return (holders == null) ? new Read(KeyState.FREE, now, ABSENT)
				: new Read(KeyState.of(holders, row.getLong(2), row.getString(3), row.getLong(4)), now, row.getLong(5));
	}

	/**
	 * Notifies a waiter, in a statement of its own: a notification takes a lock of the
	 * whole server, which must not wait until the step that wakes the waiter is on the
	 * disk.
	 */
	void send(ReleaseNotification notification) {
		String instance = notification.waiter().instance();
		try {
			changes(this.sql.notify, Statements.channel(this.sql.table, instance), notification.text());
		}
		catch (SQLException ex) {
			if (SqlFailures.isOfConnection(ex)) {
				this.supervisor.broken();
			}
			// The step was written, so a failed notification must not look like a
			// refusal.
			logger.debug("{} learns by its next poll that it is next for lock '{}'", instance,
					LockException.printable(notification.key()), ex);
		}
	}

	/**
	 * Writes the new state of a key.
	 * @return {@code false} if the row has changed since the read
	 */
	boolean write(String key, Read before, KeyState after) throws SQLException {
		Object bound = bind(key);
		// A row is swept some time after its key became free.
		long end = (after.end() > 0) ? after.end() : before.now();
		if (before.version().equals(ABSENT)) {
			try {
				return changes(this.sql.insert, after.holders(), end, after.waiters(), after.fencingToken(),
						before.now(), before.now() + this.sql.keptFor(after.fencingToken()), bound);
			}
			catch (SQLException ex) {
				if (SqlFailures.isDuplicate(ex)) {
					return false;
				}
				throw ex;
			}
		}
		return changes(after.gives(before.state()) ? this.sql.give : this.sql.change, after.holders(), end,
				after.waiters(), after.fencingToken(), before.version(), bound);
	}

	/**
	 * Looks at some of the rows that are due for a sweep. Deletes the rows whose keys
	 * have been free for long enough. The other rows become due again later.
	 * @return whether more may be due
	 */
	boolean sweep() throws SQLException {
		List<Object> expired = new ArrayList<>();
		List<Object> versions = new ArrayList<>();
		List<Object> free = new ArrayList<>();
		List<Object> held = new ArrayList<>();
		query(this.sql.readDue, (rows) -> {
			while (rows.next()) {
				Object key = rows.getObject(1);
				if (rows.getBoolean(3)) {
					expired.add(key);
					versions.addAll(Arrays.asList(key, rows.getLong(2)));
				}
				else {
					(rows.getBoolean(4) ? free : held).add(key);
				}
			}
			return expired;
		});
		if (!expired.isEmpty()) {
			changes(Statements.of(this.sql.deleteExpired, expired.size()),
					Stream.concat(expired.stream(), versions.stream()).toArray());
		}
		if (!free.isEmpty()) {
			changes(Statements.of(this.sql.postpone, free.size()), free.toArray());
		}
		// Each row is postponed by itself: together, these updates could deadlock with a
		// renewal of several rows.
		for (Object key : held) {
			changes(Statements.of(this.sql.postpone, 1), key);
		}
		return expired.size() + free.size() + held.size() == Statements.MOST_ROWS;
	}

	/**
	 * Deletes a row whose version is known.
	 * @return {@code false} if the row is gone, or has changed
	 */
	boolean delete(String key, Object version) throws SQLException {
		Object bound = bind(key);
		return changes(Statements.of(this.sql.deleteExpired, 1), bound, bound, version);
	}

	/**
	 * Marks the table, unless the table is marked already. The row of the mark is never
	 * free.
	 */
	void mark(String mark) throws SQLException {
		changes(this.sql.insert, mark, LATEST, Statements.NOBODY, 0L, 0L, LATEST, bind(Statements.MARK));
	}

	boolean execute(String statement) throws SQLException {
		return Boolean.TRUE.equals(run(statement, PreparedStatement::execute));
	}

	/**
	 * Reads the first column of the first row.
	 * @return {@code null} if there is no row, or no value
	 */
	@Nullable String value(String query, Object... values) throws SQLException {
		return query(query, (row) -> row.next() ? row.getString(1) : null, values);
	}

	private boolean changes(String statement, Object... values) throws SQLException {
		return Boolean.TRUE.equals(run(statement,
				(prepared) -> prepared.execute() ? prepared.getResultSet().next() : prepared.getUpdateCount() > 0,
				values));
	}

	private <T> @Nullable T query(String statement, Use<ResultSet, T> reader, Object... values) throws SQLException {
		return run(statement, (prepared) -> {
			try (ResultSet rows = prepared.executeQuery()) {
				return reader.of(rows);
			}
		}, values);
	}

	private <T> @Nullable T run(String statement, Use<PreparedStatement, T> use, Object... values) throws SQLException {
		try (PreparedStatement prepared = this.connection.prepareStatement(this.supervisor.tag() + statement)) {
			// The URL may limit the rows that MySQL's driver reads.
			prepared.setMaxRows(0);
			for (int i = 0; i < values.length; i++) {
				prepared.setObject(i + 1, values[i]);
			}
			Calls.Execution execution = this.supervisor.begin(() -> cancel(prepared));
			@Nullable T result;
			try {
				result = use.of(prepared);
			}
			catch (SQLException ex) {
				// The cancellation may still meet the next statement of this connection.
				boolean cancelled = execution.end() && !SqlFailures.isCancelled(ex);
				// The time of the driver may be over before the cancellation.
				boolean hangs = cancelled || SqlFailures.isOutOfTime(ex);
				if (hangs || SqlFailures.isUnanswered(ex)) {
					this.supervisor.abandoned(hangs);
				}
				throw cancelled ? new SQLException(CANCELLED, "40003", ex) : ex;
			}
			catch (RuntimeException | Error ex) {
				execution.end();
				throw ex;
			}
			// A cancelled commit that waits for a replica is reported as done.
			if (execution.end()) {
				throw new SQLException(CANCELLED, "40003");
			}
			return result;
		}
	}

	private void cancel(PreparedStatement statement) throws SQLException {
		if (this.sql.platform == Platform.POSTGRESQL) {
			// The cancellation of a statement would block the statement's own thread.
			this.connection.unwrap(PGConnection.class).cancelQuery();
		}
		else {
			statement.cancel();
		}
	}

	private Object bind(String key) {
		return this.sql.platform.bind(key);
	}

}
