package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import io.github.distributedlock.backend.redis.wire.UnsentException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.RedisConnectionFailureException;

/**
 * A pool of Jedis connections, each of which is lent for one step, or for a long time to
 * a {@link JedisWire}.
 * <p>
 * A server that went away leaves a pool full of dead connections, each of which would
 * fail one command, since testing them would cost a command each time. So the first that
 * fails makes a new, empty pool. The old one is closed only when the next takes its
 * place, at least one command timeout later: closing a pool interrupts the threads that
 * wait for it. Until then its idle connections end by themselves. One that leads to no
 * master any more is left at once.
 * <p>
 * A broken connection is given back in the background: the pool makes another in its
 * place at once, on the thread that gives it back, and a server that does not answer
 * would cost that thread a second command timeout. For the same reason a connection is
 * opened in the background, and is idle first, for the thread that is quickest.
 * <p>
 * States: no pool; a pool that has not answered yet; a pool that has (proven), with or
 * without some that are retired; closed. A pool that failed is replaced only if it is
 * proven, so an unreachable server makes no new ones.
 */
final class JedisLane implements Lane {

	private static final Logger logger = LoggerFactory.getLogger(JedisLane.class);

	private final Supplier<JedisPooledFactory> opener;

	private final long timeoutNanos;

	private final SimpleAsyncTaskExecutor discards = new SimpleAsyncTaskExecutor("distributed-lock-discard-");

	private final Opening<Pool> opening;

	private final Opening<Pool> connecting;

	private volatile @Nullable Pool current;

	/** The last one at the end. */
	private final Deque<Pool> retired = new ArrayDeque<>();

	private boolean closed;

	JedisLane(Supplier<JedisPooledFactory> opener, Duration timeout) {
		this.opener = opener;
		this.timeoutNanos = timeout.toNanos();
		this.discards.setDaemon(true);
		this.opening = new Opening<>(this::make, timeout);
		this.connecting = new Opening<>(this::connect, timeout);
	}

	@Override
	public <T> @Nullable T run(Step<T> step) {
		// Such a thread could not wait for a connection, and so not give its lock back.
		boolean interrupted = Thread.interrupted();
		try {
			return lendTo(step);
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private <T> @Nullable T lendTo(Step<T> step) {
		long begin = System.nanoTime();
		Loan loan = borrow(this.timeoutNanos / 4 * 3);
		boolean usable = false;
		boolean readOnly = false;
		try {
			T answer = inTime(step, loan.link(), this.timeoutNanos - (System.nanoTime() - begin));
			loan.prove();
			usable = true;
			return answer;
		}
		catch (LockBackendException ex) {
			usable = ex.isNotCarriedOut(); // Then all that was sent was answered.
			throw ex;
		}
		catch (DataAccessException ex) {
			readOnly = RedisRefusal.READONLY.isIn(ex);
			throw ex;
		}
		finally {
			// Of a server that is no master any more, as of one that went away.
			if (readOnly || loan.link().connection().isBroken()) {
				giveBackBroken(loan);
			}
			else if (usable) {
				loan.jedis.close();
			}
			else {
				drop(loan); // A transaction may have been left open on it.
			}
		}
	}

	boolean isOpen() {
		return usable() != null;
	}

	private @Nullable Pool usable() {
		Pool pool = this.current;
		return (pool != null && pool.factory.leadsToMaster()) ? pool : null;
	}

	/**
	 * Has a pool made, unless there is one, and waits for it.
	 * @throws UnsentException if that takes too long
	 */
	void open() {
		pool(this.timeoutNanos);
	}

	private Pool pool(long nanos) {
		Pool pool = usable();
		return (pool != null) ? pool : this.opening.await(nanos);
	}

	/**
	 * Borrows a connection.
	 * @param nanos how long it may take
	 * @return it, to be given back
	 * @throws UnsentException if there is none in that time
	 */
	Loan borrow(long nanos) {
		long end = System.nanoTime() + nanos;
		Pool pool = pool(nanos);
		while (!pool.factory.opensNone()) {
			pool = this.connecting.await(end - System.nanoTime());
		}
		return lend(pool);
	}

	private Pool connect() {
		Pool pool = pool(this.timeoutNanos);
		lend(pool).jedis.close();
		return pool;
	}

	private Loan lend(Pool pool) {
		try {
			Loan loan = new Loan(pool, pool.factory.borrow());
			if (pool.factory.leadsToMaster()) {
				return loan;
			}
			drop(loan);
			throw new RedisConnectionFailureException("the master has been replaced meanwhile");
		}
		catch (DataAccessException ex) {
			if (ex.contains(JedisConnectionException.class)) {
				replace(pool);
			}
			throw new UnsentException(ex);
		}
	}

	/**
	 * Whether a connection still leads to the master, as far as is known without I/O.
	 */
	boolean isCurrent(Loan loan) {
		return loan.pool == usable();
	}

	/**
	 * Takes back a connection that failed, and does not trust the others of its pool.
	 */
	void giveBackBroken(Loan loan) {
		// Whatever failed: replies may be under way that are nobody's.
		loan.link().connection().setBroken();
		replace(loan.pool);
		this.discards.execute(() -> giveBack(loan));
	}

	/**
	 * Takes back a connection that is not to be used again.
	 */
	void drop(Loan loan) {
		loan.link().connection().setBroken();
		this.discards.execute(() -> giveBack(loan));
	}

	// The pool fails to make another if the server is down, which is no news.
	private static void giveBack(Loan loan) {
		try {
			loan.jedis.close();
		}
		catch (RuntimeException ex) {
			logger.debug("Closed a broken connection, and could not open another", ex);
		}
	}

	// What the connection has taken of the command timeout, the command must not take
	// again, but for a quarter.
	private <T> @Nullable T inTime(Step<T> step, JedisLink link, long nanosLeft) {
		if (nanosLeft > this.timeoutNanos * 3 / 4) {
			return step.on(link);
		}
		Connection connection = link.connection();
		int timeout = connection.getSoTimeout();
		connection
			.setSoTimeout((int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(Math.max(nanosLeft, this.timeoutNanos / 4))));
		try {
			return step.on(link);
		}
		finally {
			if (!connection.isBroken()) {
				connection.setSoTimeout(timeout);
			}
		}
	}

	private Pool make() {
		Pool pool = usable();
		if (pool != null) {
			return pool;
		}
		pool = new Pool(this.opener.get());
		if (!keep(pool)) {
			pool.factory.destroy();
			throw new IllegalStateException("the lock backend is closed");
		}
		return pool;
	}

	private synchronized boolean keep(Pool pool) {
		if (!this.closed) {
			retire();
			this.current = pool;
		}
		return !this.closed;
	}

	private synchronized void replace(Pool failed) {
		Pool last = this.retired.peekLast();
		if (this.current == failed && failed.proven && !this.closed && (last == null || isOver(last))) {
			retire();
		}
	}

	private void retire() {
		Pool pool = this.current;
		if (pool == null) {
			return;
		}
		while (!this.retired.isEmpty() && isOver(this.retired.element())) {
			this.retired.remove().factory.destroy();
		}
		pool.retiredAt = System.nanoTime();
		this.retired.add(pool);
		this.current = null;
	}

	private boolean isOver(Pool retired) {
		return System.nanoTime() - retired.retiredAt > this.timeoutNanos;
	}

	@Override
	public synchronized void close() {
		this.closed = true;
		if (this.current != null) {
			this.current.factory.destroy();
		}
		this.retired.forEach((pool) -> pool.factory.destroy());
		this.current = null;
		this.retired.clear();
	}

	/**
	 * A pool, proven once it has answered.
	 */
	private static final class Pool {

		private final JedisPooledFactory factory;

		private volatile boolean proven;

		private long retiredAt;

		private Pool(JedisPooledFactory factory) {
			this.factory = factory;
		}

	}

	/**
	 * A connection, and the pool that has lent it.
	 */
	static final class Loan {

		private final Pool pool;

		private final Jedis jedis;

		private final JedisLink link;

		private Loan(Pool pool, Jedis jedis) {
			this.pool = pool;
			this.jedis = jedis;
			this.link = new JedisLink(jedis.getConnection());
		}

		JedisLink link() {
			return this.link;
		}

		/**
		 * To be called when it has answered.
		 */
		void prove() {
			if (!this.pool.proven) {
				this.pool.proven = true;
			}
		}

	}

}
