package io.github.distributedlock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.locks.ReentrantLock;

import javax.sql.DataSource;

import io.github.distributedlock.LockBackendException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Borrows connections of a data source, never the one of a running transaction, and gives
 * them back as they were. On each, a statement is committed by itself, in READ COMMITTED,
 * and a server that does not answer ends it by the network time-out. Safe for use by many
 * threads.
 */
final class Connections {

	private static final Logger logger = LoggerFactory.getLogger(Connections.class);

	private static final String JOINS_TRANSACTIONS = "org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy";

	private final DataSource dataSource;

	private final JdbcLockSettings settings;

	private volatile @Nullable Statements statements;

	/**
	 * That of the data source, asked once, since some drivers ask the server for it.
	 */
	private volatile int isolation;

	/**
	 * What is done with a connection.
	 */
	interface Step<T extends @Nullable Object> {

		T run(Session session) throws SQLException;

	}

	Connections(DataSource dataSource, JdbcLockSettings settings) {
		if (joinsTransactions(dataSource)) {
			throw new IllegalArgumentException("A lock must not be part of the caller's transaction, as one on a"
					+ " TransactionAwareDataSourceProxy is, also inside another proxy: give its target data source"
					+ " instead (distributed-lock.jdbc.data-source)");
		}
		this.dataSource = dataSource;
		this.settings = settings;
	}

	private static boolean joinsTransactions(DataSource dataSource) {
		try {
			return dataSource.isWrapperFor(Class.forName(JOINS_TRANSACTIONS));
		}
		catch (ClassNotFoundException | SQLException | RuntimeException | LinkageError ex) {
			return false; // Without Spring, or of a driver that cannot say.
		}
	}

	/**
	 * The statements for this database, {@code null} while it is not known which it is.
	 */
	@Nullable Statements statements() {
		return this.statements;
	}

	/**
	 * Does something with a connection that is borrowed for it.
	 * @param name what is done, with the key
	 */
	<T extends @Nullable Object> T run(String name, Step<T> step) {
		try (Borrowed borrowed = borrow()) {
			return borrowed.run(name, step);
		}
	}

	/**
	 * Borrows a connection, which is to be closed.
	 */
	Borrowed borrow() {
		Connection connection;
		try {
			connection = this.dataSource.getConnection();
		}
		catch (SQLException ex) {
			throw SqlFailures.notConnected(ex);
		}
		try {
			return new Borrowed(connection);
		}
		catch (SQLException ex) {
			end(connection, true);
			throw SqlFailures.notConnected(ex);
		}
		catch (RuntimeException | Error ex) {
			end(connection, false);
			throw ex;
		}
	}

	private Statements statements(Connection connection) throws SQLException {
		Statements known = this.statements;
		if (known == null) {
			this.isolation = connection.getTransactionIsolation();
			known = new Statements(Platform.of(connection.getMetaData()), this.settings);
			this.statements = known;
		}
		return known;
	}

	private static void end(Connection connection, boolean broken) {
		try (connection) {
			if (broken) {
				connection.abort(Runnable::run);
				// Fails now, from which a pool learns that it must not lend it again.
				connection.createStatement().close();
			}
		}
		catch (SQLException ex) {
			logger.debug("Ended a connection", ex);
		}
	}

	/**
	 * A connection that is kept for one purpose, so that others cannot use up all. One
	 * step at a time.
	 */
	final class Kept implements AutoCloseable {

		private final ReentrantLock mutex = new ReentrantLock();

		private @Nullable Borrowed kept;

		/**
		 * Does something that may be done twice: the connection may have been ended while
		 * nobody used it.
		 */
		<T extends @Nullable Object> T run(String name, Step<T> step) {
			this.mutex.lock();
			try {
				Borrowed known = this.kept;
				if (known != null) {
					try {
						return known.run(name, step);
					}
					catch (LockBackendException ex) {
						if (!known.broken) {
							throw ex;
						}
						logger.debug("A connection for locks has ended", ex);
						close();
					}
				}
				Borrowed borrowed = borrow();
				this.kept = borrowed;
				return borrowed.run(name, step);
			}
			finally {
				this.mutex.unlock();
			}
		}

		@Override
		public void close() {
			this.mutex.lock();
			try (Borrowed ended = this.kept) {
				this.kept = null;
			}
			finally {
				this.mutex.unlock();
			}
		}

	}

	/**
	 * A connection that is borrowed. Confined to one thread at a time.
	 */
	final class Borrowed implements AutoCloseable {

		private final Session session;

		private final boolean autoCommit;

		private final int timeout;

		/**
		 * Whether it must not be used again.
		 */
		boolean broken;

		private Borrowed(Connection connection) throws SQLException {
			this.session = new Session(connection, Connections.this.statements(connection));
			this.autoCommit = connection.getAutoCommit();
			this.timeout = connection.getNetworkTimeout();
			set(true, Connection.TRANSACTION_READ_COMMITTED,
					Math.toIntExact(Connections.this.settings.commandTimeout().toMillis()));
		}

		private void set(boolean autoCommit, int isolation, int timeout) throws SQLException {
			Connection connection = this.session.connection();
			connection.setNetworkTimeout(Runnable::run, timeout);
			if (!this.autoCommit) {
				connection.setAutoCommit(autoCommit);
			}
			if (Connections.this.isolation != Connection.TRANSACTION_READ_COMMITTED) {
				connection.setTransactionIsolation(isolation);
			}
		}

		<T extends @Nullable Object> T run(String name, Step<T> step) {
			try {
				return step.run(this.session);
			}
			catch (SQLException ex) {
				this.broken = this.broken || SqlFailures.isOfConnection(ex);
				throw SqlFailures.of(name, ex, this.session.sql());
			}
		}

		/**
		 * Gives the connection back as it was, or ends it if it is broken.
		 */
		@Override
		public void close() {
			if (!this.broken) {
				try {
					set(this.autoCommit, Connections.this.isolation, this.timeout);
				}
				catch (SQLException ex) {
					this.broken = true;
				}
			}
			end(this.session.connection(), this.broken);
		}

	}

}
