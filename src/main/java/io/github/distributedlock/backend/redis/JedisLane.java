package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.exceptions.JedisConnectionException;

import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/**
 * A pool of Jedis connections.
 * <p>
 * A server that went away leaves a pool full of dead connections, each of which would
 * fail one command, since testing them would cost a command each time. So the first that
 * fails makes a new, empty pool. The old one is closed only when the next takes its
 * place, at least one command timeout later: closing a pool interrupts whoever waits for
 * it. Until then its idle connections end by themselves.
 * <p>
 * States: no pool; a pool that has not answered yet; a pool that has (proven), with or
 * without one that is retired; closed. Only a proven pool is replaced, so an unreachable
 * server makes no new ones.
 */
final class JedisLane implements Lane {

	private final Supplier<JedisConnectionFactory> opener;

	private final long timeoutNanos;

	private volatile @Nullable Pool current;

	private @Nullable Pool retired;

	private boolean closed;

	JedisLane(Supplier<JedisConnectionFactory> opener, Duration timeout) {
		this.opener = opener;
		this.timeoutNanos = timeout.toNanos();
	}

	@Override
	public <T> @Nullable T run(Command<T> command) {
		Pool pool = this.current;
		if (pool == null) {
			pool = open();
		}
		try {
			T answer;
			try (RedisConnection connection = pool.factory.getConnection()) {
				answer = command.on(connection);
			}
			if (!pool.proven) {
				pool.proven = true;
			}
			return answer;
		}
		catch (DataAccessException ex) {
			if (ex.contains(JedisConnectionException.class)) {
				replace(pool);
			}
			throw ex;
		}
	}

	private synchronized Pool open() {
		if (this.closed) {
			throw new IllegalStateException("the lock backend is closed");
		}
		Pool pool = this.current;
		if (pool == null) {
			pool = new Pool(this.opener.get());
			this.current = pool;
		}
		return pool;
	}

	private synchronized void replace(Pool failed) {
		boolean old = System.nanoTime() - failed.since > this.timeoutNanos;
		if (this.current == failed && failed.proven && old && !this.closed) {
			if (this.retired != null) {
				this.retired.factory.destroy();
			}
			this.retired = failed;
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

		private final JedisConnectionFactory factory;

		private final long since = System.nanoTime();

		private volatile boolean proven;

		private Pool(JedisConnectionFactory factory) {
			this.factory = factory;
		}

	}

}
