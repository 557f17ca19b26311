package io.github.distributedlock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The data source, mostly a pool: lends connections, and is told which connections are
 * broken. Any call of the data source may hang. Safe for use by many threads.
 */
final class Pool {

	private static final Logger logger = LoggerFactory.getLogger(Pool.class);

	private static final String JOINS_TRANSACTIONS = "org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy";

	private static final boolean HIKARI = load("com.zaxxer.hikari.HikariDataSource") != null;

	private final DataSource dataSource;

	private final Duration timeout;

	/**
	 * Creates the pool of a data source.
	 * @param timeout how long one command may take
	 * @throws IllegalArgumentException if the connections would be those of the caller's
	 * transactions
	 */
	Pool(DataSource dataSource, Duration timeout) {
		if (joinsTransactions(dataSource)) {
			throw new IllegalArgumentException("A lock must not be part of the caller's transaction, as one on a"
					+ " TransactionAwareDataSourceProxy is, also inside another proxy: give its target data source"
					+ " instead (distributed-lock.jdbc.data-source)");
		}
		this.dataSource = dataSource;
		this.timeout = timeout;
	}

	/**
	 * Returns a class of a library that may be absent.
	 */
	static @Nullable Class<?> load(String type) {
		try {
			return Class.forName(type);
		}
		catch (ClassNotFoundException | LinkageError ex) {
			return null;
		}
	}

	private static boolean joinsTransactions(DataSource dataSource) {
		Class<?> proxy = load(JOINS_TRANSACTIONS);
		try {
			return proxy != null && dataSource.isWrapperFor(proxy);
		}
		catch (SQLException | RuntimeException | LinkageError ex) {
			return false; // The driver cannot say.
		}
	}

	/**
	 * Returns whether the pool itself gives or refuses a connection in time.
	 */
	boolean keepsTime() {
		return HIKARI && Hikari.answersIn(this.timeout, this.dataSource);
	}

	/**
	 * Returns whether the driver has accepted the timeout. The connection of a pool would
	 * only repeat the timeout that was set.
	 */
	static boolean keepsTime(Connection connection, int timeout) throws SQLException {
		Connection physical = connection;
		try {
			physical = connection.unwrap(Connection.class);
		}
		catch (SQLException | RuntimeException | LinkageError ex) {
			logger.debug("There is nothing behind {}", connection, ex);
		}
		return physical.getNetworkTimeout() == timeout;
	}

	/**
	 * Returns how many connections may be lent at the same time,
	 * {@link Integer#MAX_VALUE} if that is not known.
	 */
	int most() {
		return HIKARI ? Hikari.most(this.dataSource) : Integer.MAX_VALUE;
	}

	/**
	 * Returns whether all connections are lent, {@code null} if that is not known.
	 */
	@Nullable Boolean isUsedUp() {
		return HIKARI ? Hikari.isUsedUp(this.dataSource) : null;
	}

	/**
	 * Gets a connection in spite of an interrupt: Hikari's pool refuses a connection to a
	 * thread that is interrupted during the wait, and sets the flag of the thread.
	 */
	Connection connect() throws SQLException {
		long end = System.nanoTime() + this.timeout.toNanos();
		boolean interrupted = Thread.interrupted();
		try {
			while (true) {
				try {
					return this.dataSource.getConnection();
				}
				catch (SQLException ex) {
					if (!Thread.interrupted()) {
						throw ex;
					}
					interrupted = true;
					if (System.nanoTime() - end >= 0) {
						throw ex;
					}
				}
			}
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * Gives a connection back.
	 * @param broken whether nobody may use it again
	 */
	void end(Connection connection, boolean broken) {
		if (broken) {
			abort(connection);
			if (evict(connection)) {
				return; // The pool closes it, and fails at its close by somebody else.
			}
		}
		try (connection) {
			if (broken) {
				// Other pools learn from a failure that the connection is broken. The
				// drivers of MariaDB and H2 fail only when a statement is carried out.
				try (Statement statement = connection.createStatement()) {
					statement.execute("select 1");
				}
			}
		}
		catch (SQLException | RuntimeException ex) {
			// Hikari's pool throws an unchecked exception if the pool has ended the
			// connection.
			logger.debug("Ended a connection", ex);
		}
	}

	private static void abort(Connection connection) {
		try {
			connection.abort(Runnable::run);
		}
		catch (SQLException ex) {
			logger.debug("A connection was not aborted", ex);
		}
	}

	/**
	 * Tells the pool that it must not lend a connection again.
	 * @return {@code false} if the pool cannot be told
	 */
	boolean evict(Connection connection) {
		return HIKARI && Hikari.evict(connection, this.dataSource);
	}

	/**
	 * The calls that only Hikari's pool has. This class is loaded only where Hikari is
	 * present.
	 */
	private static final class Hikari {

		/**
		 * The shortest timeout that Hikari's pool accepts, in milliseconds.
		 */
		private static final long SHORTEST_TIMEOUT = 250;

		static boolean answersIn(Duration timeout, DataSource dataSource) {
			return dataSource instanceof HikariDataSource pool
					&& pool.getConnectionTimeout() <= Math.max(SHORTEST_TIMEOUT, timeout.toMillis());
		}

		static int most(DataSource dataSource) {
			return (dataSource instanceof HikariDataSource pool) ? pool.getMaximumPoolSize() : Integer.MAX_VALUE;
		}

		static @Nullable Boolean isUsedUp(DataSource dataSource) {
			try {
				if (!dataSource.isWrapperFor(HikariDataSource.class)) {
					return null;
				}
				HikariDataSource pool = dataSource.unwrap(HikariDataSource.class);
				HikariPoolMXBean running = pool.getHikariPoolMXBean();
				return running != null && running.getActiveConnections() >= pool.getMaximumPoolSize();
			}
			catch (SQLException ex) {
				return null;
			}
		}

		static boolean evict(Connection connection, DataSource dataSource) {
			try {
				if (!connection.getClass().getName().startsWith("com.zaxxer.hikari.")
						|| !dataSource.isWrapperFor(HikariDataSource.class)) {
					return false;
				}
				dataSource.unwrap(HikariDataSource.class).evictConnection(connection);
				return true;
			}
			catch (SQLException ex) {
				return false;
			}
		}

	}

}
