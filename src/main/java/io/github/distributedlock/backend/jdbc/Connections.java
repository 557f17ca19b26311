package io.github.distributedlock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import javax.sql.DataSource;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.jdbc.Calls.NoAnswerException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Borrows connections of a data source, never the connection of a running transaction,
 * and gives them back unchanged. On each connection, a statement is committed by itself,
 * in READ COMMITTED where the {@linkplain Platform#isolation platform} can. Neither a
 * pool without a free connection nor a server or a driver that does not answer keeps a
 * caller for longer than a command timeout. Safe for use by many threads.
 */
final class Connections implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(Connections.class);

	/**
	 * Longest wait of a close for the statements that are under way.
	 */
	private static final Duration LONGEST_CLOSE = Duration.ofSeconds(5);

	private final Pool pool;

	private final JdbcLockSettings settings;

	private final Calls calls;

	/**
	 * {@code true} if the driver ends a call in time by itself, known from the first
	 * connection on. H2's driver accepts the network timeout, and ignores that timeout.
	 */
	private volatile boolean driverKeepsTime;

	private final Destination destination = new Destination();

	private final Strays strays;

	private final RecentKeys recent = new RecentKeys();

	/**
	 * One permit for each connection that may be borrowed.
	 */
	private final Semaphore unborrowed = new Semaphore(Integer.MAX_VALUE);

	private volatile boolean closed;

	private volatile @Nullable Statements statements;

	/**
	 * The isolation of the data source, asked for once, since some drivers ask the
	 * server.
	 */
	private volatile int isolation;

	/**
	 * The isolation of the statements of the locks.
	 */
	private volatile int ours;

	/**
	 * A step on a connection.
	 */
	interface Step<T extends @Nullable Object> {

		T run(Session session) throws SQLException;

	}

	Connections(DataSource dataSource, JdbcLockSettings settings) {
		this.pool = new Pool(dataSource, settings.commandTimeout());
		this.settings = settings;
		this.calls = new Calls(settings.commandTimeout());
		this.strays = new Strays(settings.commandTimeout(), this::endStrays);
	}

	/**
	 * Returns the statements for this database, {@code null} while the kind of the
	 * database is not known.
	 */
	@Nullable Statements statements() {
		return this.statements;
	}

	<T extends @Nullable Object> T run(String name, Step<T> step) {
		return run(name, 1, step);
	}

	/**
	 * Runs a step on a connection that is borrowed for that step.
	 * @param name the words for the step, with the key
	 * @param commands how many command timeouts the step takes at most
	 */
	<T extends @Nullable Object> T run(String name, int commands, Step<T> step) {
		try (Borrowed borrowed = borrow()) {
			return borrowed.run(name, commands, step);
		}
	}

	/**
	 * Borrows a connection, which the caller has to close. Takes a command timeout at
	 * most, and one more while the server has sessions that hang, or if the thread is
	 * interrupted.
	 */
	Borrowed borrow() {
		this.strays.end();
		return borrow(true);
	}

	/**
	 * Borrows a connection.
	 * @param forTable whether the connection is for the table of the locks. A new
	 * connection for the table reads the table first, which may block: somebody may have
	 * locked the table
	 */
	private Borrowed borrow(boolean forTable) {
		if (this.closed || !this.unborrowed.tryAcquire()) {
			throw LockBackendException.of("The store is closed, so there is no connection for locks any more")
				.stopped(true)
				.withoutEffect(true)
				.build();
		}
		Borrowed borrowed = null;
		try {
			borrowed = (this.pool.keepsTime() && this.driverKeepsTime) ? open(forTable)
					: this.calls.connect(() -> open(forTable), (late) -> {
						if (late != null) {
							late.giveBack();
						}
					});
			return borrowed;
		}
		catch (SQLException ex) {
			throw SqlFailures.notConnected(ex, this.pool.isUsedUp());
		}
		finally {
			if (borrowed == null) {
				this.unborrowed.release();
			}
		}
	}

	/**
	 * Makes sure that no statement that has failed here is carried out later.
	 * @throws LockBackendException if that is not certain
	 */
	void settle() {
		this.strays.endAll();
	}

	private Set<String> endStrays(Set<String> tags) {
		try (Borrowed borrowed = borrow(false)) {
			return borrowed.run("end sessions that hang", 1, (session) -> session.endStrays(tags));
		}
	}

	private Borrowed open(boolean forTable) throws SQLException {
		Connection connection = connect();
		Borrowed borrowed;
		try {
			borrowed = new Borrowed(connection);
		}
		catch (SQLException | RuntimeException | Error ex) {
			this.pool.end(connection, ex instanceof SQLException);
			throw ex;
		}
		try {
			borrowed.prepare(forTable);
		}
		catch (SQLException | RuntimeException | Error ex) {
			borrowed.broken = ex instanceof SQLException;
			borrowed.giveBack();
			throw ex;
		}
		return borrowed;
	}

	private Connection connect() throws SQLException {
		try {
			return this.pool.connect();
		}
		catch (RuntimeException ex) {
			throw SqlFailures.withoutDriver(ex, this.statements != null);
		}
	}

	private Statements statements(Connection connection) throws SQLException {
		Statements known = this.statements;
		if (known == null) {
			this.isolation = connection.getTransactionIsolation();
			Platform platform = Platform.of(connection.getMetaData());
			this.ours = platform.isolation(connection);
			known = new Statements(platform, this.settings);
			this.statements = known;
		}
		return known;
	}

	/**
	 * Lends no connection any more, waits for a command timeout, and for 5 seconds at
	 * most, until all connections have been given back, and ends the threads of this
	 * class. So a pool that is closed next ends no connection under a statement, but one
	 * that hangs.
	 */
	@Override
	public void close() {
		if (this.closed) {
			return;
		}
		this.closed = true;
		try {
			long wait = Math.min(this.settings.commandTimeout().toNanos(), LONGEST_CLOSE.toNanos());
			if (!this.unborrowed.tryAcquire(Integer.MAX_VALUE, wait, TimeUnit.NANOSECONDS)) {
				logger.debug("The store is closed under a statement that has not ended in time");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.calls.close();
	}

	/**
	 * Requires that the pool can lend so many connections at the same time.
	 * @throws LockBackendException if the pool cannot; retryable if others may have the
	 * connections at the moment
	 */
	void require(int count) {
		int most = this.pool.most();
		if (most < count) {
			throw tooFew("The pool has at most " + most + ((most == 1) ? " connection" : " connections"), count)
				.build();
		}
		if (most < Integer.MAX_VALUE) {
			return;
		}
		List<Borrowed> all = new ArrayList<>();
		try {
			while (all.size() < count - 1) { // Renewals keep one already.
				all.add(borrow());
			}
		}
		catch (LockBackendException ex) {
			throw (all.isEmpty() ? ex
					: tooFew("The pool has given " + (all.size() + 1) + " connections and no more", count)
						.retryable(true)
						.cause(ex)
						.build());
		}
		finally {
			all.forEach(Borrowed::close);
		}
	}

	private static LockBackendException.Builder tooFew(String problem, int count) {
		return LockBackendException
			.of(problem + ", and locks need at least " + count
					+ ": renewals keep one, notifications of PostgreSQL another, and each request takes one")
			.remedy("let the pool have more connections, one more for each thread that requests a lock inside a"
					+ " transaction")
			.withoutEffect(true);
	}

	/**
	 * A connection that is kept for one purpose, so that other purposes cannot use up all
	 * connections. Runs one step at a time.
	 */
	final class Kept implements AutoCloseable {

		private final ReentrantLock mutex = new ReentrantLock();

		private @Nullable Borrowed kept;

		/**
		 * Runs a step that may run twice: the connection may have ended while unused.
		 */
		<T extends @Nullable Object> T run(String name, Step<T> step) {
			return run(name, 1, step);
		}

		/**
		 * Runs a step that may run twice, and that takes so many command timeouts at
		 * most.
		 */
		<T extends @Nullable Object> T run(String name, int commands, Step<T> step) {
			this.mutex.lock();
			try {
				Borrowed known = this.kept;
				if (known != null) {
					try {
						return known.run(name, commands, step);
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
				return borrowed.run(name, commands, step);
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
	final class Borrowed implements AutoCloseable, Session.Supervisor {

		private final Session session;

		private final String tag;

		/**
		 * {@code true} if a statement that has failed here may still be carried out.
		 */
		private volatile boolean abandoned;

		/**
		 * {@code true} if the server probably has that statement still.
		 */
		private volatile boolean hangs;

		private final boolean autoCommit;

		private final int timeout;

		/**
		 * {@code true} if the connection must not be used again.
		 */
		volatile boolean broken;

		/**
		 * {@code true} while a thread whose caller waits no more is still in the driver.
		 * That thread ends the connection.
		 */
		private volatile boolean stuck;

		private Borrowed(Connection connection) throws SQLException {
			this.tag = Connections.this.strays.tag(connection);
			this.session = new Session(connection, Connections.this.statements(connection), this,
					Connections.this.recent);
			this.autoCommit = connection.getAutoCommit();
			this.timeout = connection.getNetworkTimeout();
		}

		/**
		 * Makes the connection fit for locks.
		 * @throws LockBackendException if the connection leads to another database
		 */
		private void prepare(boolean forTable) throws SQLException {
			int timeout = Math.toIntExact(Connections.this.settings.commandTimeout().toMillis());
			this.session.connection().setNetworkTimeout(Runnable::run, timeout);
			if (this.autoCommit && this.session.sql().platform == Platform.POSTGRESQL) {
				endForeignTransaction(); // Within a transaction the isolation is fixed.
			}
			set(true, Connections.this.ours);
			Connections.this.driverKeepsTime = Pool.keepsTime(this.session.connection(), timeout);
			if (forTable) {
				Connections.this.statements = Connections.this.destination.check(this.session);
			}
		}

		// BEGIN opens a transaction though autocommit is on, and a pool lends such a
		// connection on. PostgreSQL's driver asks the server only if there is a
		// transaction.
		private void endForeignTransaction() throws SQLException {
			Connection connection = this.session.connection();
			connection.setAutoCommit(false);
			connection.rollback();
			connection.setAutoCommit(true);
		}

		private void set(boolean autoCommit, int isolation) throws SQLException {
			Connection connection = this.session.connection();
			if (!this.autoCommit) {
				connection.setAutoCommit(autoCommit);
			}
			if (Connections.this.isolation != Connections.this.ours) {
				connection.setTransactionIsolation(isolation);
			}
		}

		@Override
		public String tag() {
			return this.tag;
		}

		@Override
		public void abandoned(boolean hangs) {
			this.abandoned = true;
			this.hangs = hangs;
		}

		@Override
		public void broken() {
			this.broken = true;
		}

		/**
		 * Records that the server has yet to end the session, if a statement may still be
		 * carried out.
		 */
		private void stray() {
			if (this.abandoned) {
				Connections.this.strays.add(this.tag, this.hangs);
			}
		}

		@Override
		public Calls.Execution begin(Calls.Cancellation cancellation) throws SQLException {
			if (this.stuck) {
				throw new SQLException("The caller waits no more", "08003");
			}
			return Connections.this.calls.begin(cancellation);
		}

		/**
		 * Runs a step that ends in time.
		 */
		<T extends @Nullable Object> T run(String name, int commands, Step<T> step) {
			return Connections.this.driverKeepsTime ? stay(name, step)
					: stay(name, (same) -> call(name, commands, () -> step.run(same)));
		}

		/**
		 * Runs a step that may last.
		 */
		<T extends @Nullable Object> T stay(String name, Step<T> step) {
			try {
				return step.run(this.session);
			}
			catch (SQLException ex) {
				this.broken = this.broken || SqlFailures.isOfConnection(ex);
				throw SqlFailures.of(name, ex, this.session.sql());
			}
		}

		private <T extends @Nullable Object> T call(String name, int commands, Callable<T> task) throws SQLException {
			try {
				return Connections.this.calls.call(name, commands, task,
						(late) -> Connections.this.pool.end(this.session.connection(), true));
			}
			catch (NoAnswerException ex) {
				this.stuck = true;
				abandoned(true);
				throw ex;
			}
		}

		/**
		 * Gives the connection back unchanged, or ends a connection that is broken.
		 */
		@Override
		public void close() {
			try {
				end();
			}
			finally {
				Connections.this.unborrowed.release();
			}
		}

		private void end() {
			try {
				if (Connections.this.driverKeepsTime) {
					giveBack();
				}
				else if (!this.stuck) {
					call("give a connection back", 1, () -> {
						giveBack();
						return true;
					});
				}
			}
			catch (SQLException ex) {
				logger.debug("No thread has given a connection back", ex);
				if (!this.stuck) {
					giveBack(); // No thread has begun to give back.
				}
			}
			if (this.stuck) {
				stray();
				// The driver may hold a lock of its own, which the pool would wait for.
				Connections.this.calls.start(() -> Connections.this.pool.evict(this.session.connection()));
			}
		}

		private void giveBack() {
			if (!this.broken) {
				try {
					this.session.connection().setNetworkTimeout(Runnable::run, this.timeout);
					set(this.autoCommit, Connections.this.isolation);
				}
				catch (SQLException | RuntimeException ex) {
					this.broken = true;
				}
			}
			if (this.broken) {
				stray();
			}
			Connections.this.pool.end(this.session.connection(), this.broken);
		}

	}

}
