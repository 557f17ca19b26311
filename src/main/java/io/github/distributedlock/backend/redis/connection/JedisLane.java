package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import io.github.distributedlock.backend.redis.wire.UnsentException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.dao.DataAccessException;

/**
 * A pool of Jedis connections.
 * <p>
 * A server that went away leaves a pool full of dead connections, each of which would
 * fail one command, since testing them would cost a command each time. So the first that
 * fails makes a new, empty pool. The old one is closed only when the next takes its
 * place, at least one command timeout later: closing a pool interrupts the threads that
 * wait for it. Until then its idle connections end by themselves.
 * <p>
 * A broken connection is given back in the background: the pool makes another in its
 * place at once, on the thread that gives it back, and a server that does not answer
 * would cost that thread a second command timeout.
 * <p>
 * States: no pool; a pool that has not answered yet; a pool that has (proven), with or
 * without one that is retired; closed. Only a proven pool is replaced, so an unreachable
 * server makes no new ones.
 */
final class JedisLane implements Lane {

	private static final Logger logger = LoggerFactory.getLogger(JedisLane.class);

	private final Supplier<JedisPooledFactory> opener;

	private final long timeoutNanos;

	private final SimpleAsyncTaskExecutor discards = new SimpleAsyncTaskExecutor("distributed-lock-discard-");

	private final Opening<Pool> opening;

	private volatile @Nullable Pool current;

	private @Nullable Pool retired;

	private long retiredAt;

	private boolean closed;

	JedisLane(Supplier<JedisPooledFactory> opener, Duration timeout) {
		this.opener = opener;
		this.timeoutNanos = timeout.toNanos();
		this.discards.setDaemon(true);
		this.opening = new Opening<>(this::open, timeout);
	}

	@Override
	public <T> @Nullable T run(Step<T> step) {
		long begin = System.nanoTime();
		Pool pool = this.current;
		if (pool == null) {
			pool = this.opening.await();
		}
		Jedis connection = borrow(pool);
		boolean broken = false;
		try {
			T answer = inTime(step, connection.getConnection(), this.timeoutNanos - (System.nanoTime() - begin));
			if (!pool.proven) {
				pool.proven = true;
			}
			return answer;
		}
		catch (DataAccessException ex) {
			// Of a server that is no master any more, as of one that went away.
			broken = ex.contains(JedisConnectionException.class) || RedisRefusal.READONLY.isIn(ex);
			throw ex;
		}
		finally {
			if (broken) {
				replace(pool);
				this.discards.execute(() -> discard(connection));
			}
			else {
				connection.close();
			}
		}
	}

	// The pool fails to make another if the server is down, which is no news.
	private static void discard(Jedis connection) {
		try {
			connection.close();
		}
		catch (RuntimeException ex) {
			logger.debug("Closed a broken connection, and could not open another", ex);
		}
	}

	// What the connection has taken of the command timeout, the command must not take
	// again, but for a quarter.
	private <T> @Nullable T inTime(Step<T> step, Connection socket, long nanosLeft) {
		JedisLink link = new JedisLink(socket);
		if (nanosLeft > this.timeoutNanos * 3 / 4) {
			return step.on(link);
		}
		int timeout = socket.getSoTimeout();
		socket
			.setSoTimeout((int) Math.max(1, TimeUnit.NANOSECONDS.toMillis(Math.max(nanosLeft, this.timeoutNanos / 4))));
		try {
			return step.on(link);
		}
		finally {
			if (!socket.isBroken()) {
				socket.setSoTimeout(timeout);
			}
		}
	}

	private Jedis borrow(Pool pool) {
		try {
			return pool.factory.borrow();
		}
		catch (DataAccessException ex) {
			if (ex.contains(JedisConnectionException.class)) {
				replace(pool);
			}
			throw new UnsentException(ex);
		}
	}

	private Pool open() {
		Pool pool = this.current;
		if (pool != null) {
			return pool;
		}
		try {
			pool = new Pool(this.opener.get());
		}
		catch (JedisException ex) {
			// A pool finds its server first, if it is to ask Sentinels for it.
			throw new UnsentException(ex);
		}
		if (!keep(pool)) {
			pool.factory.destroy();
			throw new IllegalStateException("the lock backend is closed");
		}
		return pool;
	}

	private synchronized boolean keep(Pool pool) {
		if (!this.closed) {
			this.current = pool;
		}
		return !this.closed;
	}

	private synchronized void replace(Pool failed) {
		boolean free = this.retired == null || System.nanoTime() - this.retiredAt > this.timeoutNanos;
		if (this.current == failed && failed.proven && free && !this.closed) {
			if (this.retired != null) {
				this.retired.factory.destroy();
			}
			this.retired = failed;
			this.retiredAt = System.nanoTime();
			this.current = null;
		}
	}

	@Override
	public synchronized void close() {
		this.closed = true;
		if (this.current != null) {
			this.current.factory.destroy();
		}
		if (this.retired != null) {
			this.retired.factory.destroy();
		}
		this.current = null;
		this.retired = null;
	}

	private static final class Pool {

		private final JedisPooledFactory factory;

		private volatile boolean proven;

		private Pool(JedisPooledFactory factory) {
			this.factory = factory;
		}

	}

}
