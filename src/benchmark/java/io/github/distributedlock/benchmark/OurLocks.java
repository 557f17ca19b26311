package io.github.distributedlock.benchmark;

import java.time.Duration;
import java.util.OptionalLong;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.jdbc.JdbcLockBackend;
import io.github.distributedlock.backend.jdbc.JdbcLockSettings;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * This library.
 */
final class OurLocks implements Locks {

	static final Duration KEEP_TIME = Duration.ofMillis(5);

	private final DisposableBean connections;

	private final CountingBackend counting;

	private final LockEngine engine;

	private OurLocks(DisposableBean connections, LockBackend backend, Duration keepTime) {
		this.connections = connections;
		this.counting = new CountingBackend(backend);
		this.engine = LockEngine.builder(this.counting).waitTime(Duration.ofHours(1)).keepTime(keepTime).build();
	}

	static OurLocks overJedis(int port) {
		return onRedis(Connections.jedis(port), Duration.ZERO);
	}

	static OurLocks keptOverJedis(int port) {
		return onRedis(Connections.jedis(port), KEEP_TIME);
	}

	static OurLocks overLettuce(int port) {
		return onRedis(Connections.lettuce(port), Duration.ZERO);
	}

	private static <F extends RedisConnectionFactory & DisposableBean> OurLocks onRedis(F factory, Duration keepTime) {
		return new OurLocks(factory, new RedisLockBackend(factory), keepTime);
	}

	static OurLocks overJdbc(HikariDataSource pool, Duration keepTime) {
		JdbcLockSettings settings = JdbcLockSettings.defaults();
		// The starter sets the same time-out: a pool that may take longer is asked on
		// another thread.
		pool.setConnectionTimeout(settings.commandTimeout().toMillis());
		pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
		JdbcLockBackend backend = new JdbcLockBackend(pool, settings);
		// The start of an application finds out, too, which database there is.
		backend.check();
		return new OurLocks(pool::close, backend, keepTime);
	}

	@Override
	public Mutex mutex(String key) {
		return new Held(this.engine, LockRequest.of(key));
	}

	@Override
	public Mutex permit(String key, int permits) {
		return new Held(this.engine, LockRequest.of(key).permits(permits));
	}

	@Override
	public OptionalLong attempts() {
		return OptionalLong.of(this.counting.attempts());
	}

	@Override
	public void close() {
		this.engine.close();
		this.counting.close();
		try {
			this.connections.destroy();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static final class Held implements Mutex {

		private final LockEngine engine;

		private final LockRequest request;

		private @Nullable LockHandle handle;

		private Held(LockEngine engine, LockRequest request) {
			this.engine = engine;
			this.request = request;
		}

		@Override
		public void lock() {
			this.handle = this.engine.acquire(this.request);
		}

		@Override
		public void unlock() {
			if (this.handle != null) {
				this.handle.close();
			}
		}

	}

}
