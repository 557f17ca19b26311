package io.github.distributedlock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.WeakHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The database of the locks, to which the first connection has led. A connection that
 * leads elsewhere is refused: a data source may choose a database for each thread, and
 * locks in two databases exclude nobody.
 * <p>
 * On a server, a row of the table marks the table. Nobody can have that row as a lock,
 * since its key is blank. The mark moves with the data, so a connection after a failover
 * or a move of the database still leads to the same place. A server with another mark is
 * another place. Each physical connection is checked once. Safe for use by many threads.
 */
final class Destination {

	private static final Logger logger = LoggerFactory.getLogger(Destination.class);

	/**
	 * The types of the drivers' connections. Pools and proxies unwrap to these types.
	 */
	private static final List<? extends Class<?>> DRIVERS = Stream
		.of("org.postgresql.PGConnection", "org.mariadb.jdbc.Connection", "com.mysql.cj.jdbc.JdbcConnection",
				"org.h2.jdbc.JdbcConnection")
		.map(Pool::load)
		.filter(Objects::nonNull)
		.toList();

	private final AtomicReference<@Nullable Home> home = new AtomicReference<>();

	/**
	 * The connections that lead home. Connections do not define equality.
	 */
	private final Map<Object, Boolean> known = Collections.synchronizedMap(new WeakHashMap<>());

	/**
	 * The place that a connection leads to.
	 *
	 * @param database the server's name of the database; empty where the schema is the
	 * database
	 * @param server the server, in words for a person
	 * @param mark the mark of the table, {@link Statements#NOBODY} without a mark
	 */
	private record Place(String database, String server, String mark) {

		private static final Pattern TEXT = Pattern.compile("(.*)\\|([^|]*)\\|([^|]*)", Pattern.DOTALL);

		static Place of(@Nullable String text) {
			Matcher matcher = TEXT.matcher(String.valueOf(text));
			if (!matcher.matches()) {
				throw new IllegalStateException("Not a place: " + text);
			}
			return new Place(matcher.group(1), matcher.group(2), matcher.group(3));
		}

		boolean isMarked() {
			return !this.mark.equals(Statements.NOBODY);
		}

		// A table that was emptied gets a new mark, on the same server.
		boolean isSame(Place other) {
			return this.database.equals(other.database)
					&& (this.server.equals(other.server) || (isMarked() && this.mark.equals(other.mark)));
		}

		@Override
		public String toString() {
			return this.database.isEmpty() ? this.server : "database '" + this.database + "' on " + this.server;
		}

	}

	/**
	 * The place of the locks, and the statements that name its schema.
	 */
	private record Home(Place place, Statements statements) {
	}

	/**
	 * Finds out where a connection leads, unless that is known.
	 * @return the statements to use from now on
	 * @throws LockBackendException if the connection leads elsewhere
	 */
	Statements check(Session session) throws SQLException {
		Object physical = physical(session.connection());
		if (!this.known.containsKey(physical)) {
			try {
				// MySQL's driver takes autocommit for on also where a statement such as
				// 'set autocommit = 0' has turned autocommit off at the server.
				session.connection().setAutoCommit(true);
				check(session, physical);
			}
			catch (SQLException ex) {
				// The statement of the step will tell what is missing.
				if (SqlFailures.isUnanswered(ex)) {
					throw ex;
				}
				logger.debug("It is not known yet where a connection leads", ex);
			}
		}
		Home known = this.home.get();
		return (known != null) ? known.statements : session.sql();
	}

	private void check(Session session, Object physical) throws SQLException {
		Place found = Place.of(session.value(session.sql().place));
		Home known = this.home.get();
		boolean mayMark = known == null || known.place.isSame(found);
		if (!found.isMarked() && mayMark && session.sql().platform != Platform.H2) {
			session.mark((known != null) ? known.place.mark : "the table " + UUID.randomUUID());
			found = Place.of(session.value(session.sql().place));
		}
		if (known == null) {
			String query = session.sql().schema();
			String schema = (query != null) ? session.value(query) : null;
			this.home.compareAndSet(null, new Home(found, session.sql().in(schema)));
			known = Objects.requireNonNull(this.home.get());
		}
		if (!known.place.isSame(found)) {
			throw LockBackendException
				.of("A connection leads to " + found + ", but the locks were started on " + known.place
						+ ": locks in two databases exclude nobody")
				.remedy("define a DataSource that leads to one database, and name it by"
						+ " distributed-lock.jdbc.data-source; if the locks have moved, start the application again")
				.withoutEffect(true)
				.build();
		}
		this.known.put(physical, true);
	}

	/**
	 * Returns the connection of the driver, which a pool lends again and again.
	 */
	static Object physical(Connection connection) {
		try {
			for (Class<?> driver : DRIVERS) {
				if (connection.isWrapperFor(driver)) {
					return connection.unwrap(driver);
				}
			}
			return connection.unwrap(Connection.class);
		}
		catch (SQLException | RuntimeException | LinkageError ex) {
			return connection;
		}
	}

}
