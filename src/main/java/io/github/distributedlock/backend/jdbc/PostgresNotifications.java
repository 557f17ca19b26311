package io.github.distributedlock.backend.jdbc;

import java.sql.SQLException;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

import io.github.distributedlock.backend.LockBackend.Listening;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.jdbc.Connections.Borrowed;
import io.github.distributedlock.internal.DaemonThreads;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Listens to notifications of PostgreSQL, with a connection and a thread of its own, from
 * the first registration on. Each instance has a channel, so that nobody is notified in
 * vain.
 * <p>
 * Invariant: an instance hears only while the connection listens to the instance's
 * channel, and after a first notification has come through. No notification comes through
 * if a pooler lends the connection to others meanwhile. Then this listener is deaf, and
 * tries again. Safe for use by many threads.
 */
final class PostgresNotifications implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(PostgresNotifications.class);

	/**
	 * The shortest pause, in milliseconds like all times here.
	 */
	private static final int PAUSE = 1_000;

	private static final int LONGEST_PAUSE = 60_000;

	/**
	 * After how long a quiet connection is checked.
	 */
	private static final int PULSE = 5_000;

	private final Connections connections;

	private final String table;

	private final int timeout;

	private final Map<String, ReleaseListener> listeners = new ConcurrentHashMap<>();

	private final ReentrantLock mutex = new ReentrantLock();

	private final Condition changed = this.mutex.newCondition();

	/**
	 * The channel by which this object wakes its thread.
	 */
	private final String wakeUp;

	/**
	 * The instances whose channels the connection listens to.
	 */
	private volatile Set<String> heard = Set.of();

	/**
	 * {@code true} while the connection listens at least to the channel that wakes the
	 * thread.
	 */
	private volatile boolean listening;

	/**
	 * {@code true} if the last attempt to listen has failed, or if no attempt will be
	 * made.
	 */
	private volatile boolean deaf;

	private volatile @Nullable Thread thread;

	private volatile boolean closed;

	PostgresNotifications(Connections connections, JdbcLockSettings settings) {
		this.connections = connections;
		this.table = settings.table();
		this.timeout = Math.toIntExact(settings.commandTimeout().toMillis());
		this.deaf = !settings.notifications();
		this.wakeUp = Statements.channel(this.table, UUID.randomUUID().toString());
	}

	Listening listen(String instance, ReleaseListener listener) {
		this.listeners.put(instance, listener);
		return new Listening() {

			@Override
			public boolean hears() {
				return PostgresNotifications.this.hears(instance);
			}

			@Override
			public boolean isKnown() {
				Statements statements = PostgresNotifications.this.connections.statements();
				return PostgresNotifications.this.deaf || hears()
						|| (statements != null && statements.platform != Platform.POSTGRESQL);
			}

			@Override
			public void close() {
				PostgresNotifications.this.listeners.remove(instance, listener);
			}

		};
	}

	boolean hears(String instance) {
		return this.heard.contains(instance);
	}

	/**
	 * Returns whether instances will probably hear once they have registered.
	 */
	boolean mayHear() {
		return !this.deaf;
	}

	/**
	 * Waits until an instance that listens hears, a command timeout at most. Does not
	 * wait if the last attempt to listen has failed.
	 */
	void awaitHearing(String instance) {
		if (begin(instance)) {
			await(this.timeout, () -> this.deaf || this.heard.contains(instance));
		}
	}

	/**
	 * Lets an instance that listens hear soon.
	 * @return whether the caller should wait until the instance hears
	 */
	boolean begin(String instance) {
		if (this.heard.contains(instance) || !this.listeners.containsKey(instance)) {
			return false;
		}
		// The listener looks for new instances at its next pulse, too.
		return (!this.listening || wake() == null) && begin();
	}

	/**
	 * Begins to listen, unless the thread runs already.
	 * @return {@code false} if the process can have no more threads: this registration
	 * polls, and the next registration tries again
	 */
	private synchronized boolean begin() {
		if (this.thread == null && !this.closed) {
			Thread thread = DaemonThreads.create(this::run, "distributed-lock-notifications");
			this.thread = thread;
			try {
				thread.start();
			}
			catch (OutOfMemoryError noThread) {
				this.thread = null;
				logger.debug("Waiters of locks poll, since no thread can be had to listen", noThread);
				return false;
			}
		}
		return true;
	}

	private void await(int millis, BooleanSupplier condition) {
		boolean interrupted = false;
		this.mutex.lock();
		try {
			long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
			while (System.nanoTime() - end < 0 && !this.closed && !condition.getAsBoolean()) {
				try {
					this.changed.awaitNanos(end - System.nanoTime());
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
		}
		finally {
			this.mutex.unlock();
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private void heard(Set<String> instances, boolean deaf) {
		this.mutex.lock();
		try {
			this.heard = instances;
			this.deaf = deaf;
			this.listening = !deaf;
			this.changed.signalAll();
		}
		finally {
			this.mutex.unlock();
		}
	}

	/**
	 * Wakes the listening thread.
	 * @return the failure, {@code null} if there was none: the queue of notifications may
	 * be full
	 */
	private @Nullable RuntimeException wake() {
		try {
			this.connections.run("wake the listener", (session) -> session.execute("notify " + this.wakeUp));
			return null;
		}
		catch (RuntimeException ex) {
			logger.debug("The listener wakes at its next pulse", ex);
			return ex;
		}
	}

	/**
	 * Returns the pause after a failure. An attempt that fails again and again ends a
	 * connection each time, so the pauses grow.
	 */
	static int pause(int last, boolean again) {
		return again ? Math.min(2 * last, LONGEST_PAUSE) : PAUSE;
	}

	private void run() {
		int pause = PAUSE;
		while (isOurs()) {
			boolean connected = false;
			try (Borrowed borrowed = this.connections.borrow()) {
				connected = true;
				borrowed.run("listen for released locks", 1, (session) -> session.execute("listen " + this.wakeUp));
				borrowed.broken = true; // Nobody else may get a connection that listens.
				pause = borrowed.stay("listen for released locks", this::listen) ? PAUSE : LONGEST_PAUSE;
				borrowed.broken = false;
			}
			catch (RuntimeException | Error ex) { // An error of a listener, too.
				// The classes of the driver may be hidden, and will remain hidden.
				pause = (ex instanceof LinkageError) ? LONGEST_PAUSE : pause(pause, connected && this.deaf);
				logger.atLevel((this.deaf || !isOurs()) ? Level.DEBUG : Level.WARN)
					.setCause(ex)
					.log("Waiters of locks poll, since there is no connection for notifications");
			}
			finally {
				heard(Set.of(), true);
			}
			await(pause, () -> !isOurs());
		}
	}

	/**
	 * Returns whether the calling thread is the listening thread, and is still to listen.
	 */
	private boolean isOurs() {
		return !this.closed && this.thread == Thread.currentThread();
	}

	/**
	 * Listens until this thread is no longer to listen.
	 * @return {@code false} if no notification comes through
	 */
	private boolean listen(Session session) throws SQLException {
		PGConnection postgres = session.connection().unwrap(PGConnection.class);
		this.listening = true;
		RuntimeException refusal = wake();
		boolean comeThrough = refusal == null && hearsItself(postgres);
		if (comeThrough) {
			receive(session, postgres, this.deaf);
		}
		else {
			logger.warn("Notifications of PostgreSQL do not arrive, so waiters of locks poll: {}", (refusal != null)
					? refusal.getMessage() : "a pooler may lend connections to others between two transactions");
		}
		session.execute("unlisten *");
		return comeThrough;
	}

	/**
	 * Waits for the own notification. Before this notification, others may arrive: those
	 * for which the same connection was used earlier, or which a pooler's session brings.
	 */
	private boolean hearsItself(PGConnection postgres) throws SQLException {
		long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(this.timeout);
		boolean heard = false;
		long left = this.timeout;
		while (!heard && left > 0) {
			heard = Stream.of(postgres.getNotifications((int) left))
				.anyMatch((notification) -> notification.getName().equals(this.wakeUp));
			left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
		}
		return heard;
	}

	private void receive(Session session, PGConnection postgres, boolean again) throws SQLException {
		boolean missed = again;
		while (isOurs()) {
			Set<String> wanted = Set.copyOf(this.listeners.keySet());
			for (String instance : wanted) {
				if (!this.heard.contains(instance)) {
					session.execute("listen " + Statements.channel(this.table, instance));
				}
			}
			heard(wanted, false);
			if (missed) {
				this.listeners.values().forEach(ReleaseListener::onResubscribed);
				missed = false;
			}
			// After each notification, the driver waits for another millisecond for a
			// next one.
			PGNotification[] notifications = postgres.getNotifications(PULSE);
			for (PGNotification notification : notifications) {
				notify(notification.getParameter());
			}
			if (notifications.length == 0) {
				session.execute("select 1");
			}
		}
	}

	private void notify(String payload) {
		// Anybody may notify, so the payload may have any form.
		ReleaseNotification notification = ReleaseNotification.parse(payload);
		ReleaseListener listener = (notification != null) ? this.listeners.get(notification.waiter().instance()) : null;
		if (notification != null && listener != null) {
			listener.onNotification(notification);
		}
	}

	/**
	 * Gives the connection back, and listens again from the next registration on.
	 */
	synchronized void disconnect() {
		Thread before = this.thread;
		this.thread = null;
		if (before == null) {
			return;
		}
		end();
		try {
			before.join(this.timeout);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	public void close() {
		this.closed = true;
		end();
	}

	private void end() {
		boolean listens = this.listening;
		heard(Set.of(), true);
		if (listens) {
			wake();
		}
	}

}
