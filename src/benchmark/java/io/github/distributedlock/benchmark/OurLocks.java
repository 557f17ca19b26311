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

	private final DisposableBean connections;

	private final CountingBackend counting;

	private final LockEngine engine;

	private OurLocks(DisposableBean connections, LockBackend backend) {
		this.connections = connections;
		this.counting = new CountingBackend(backend);
		this.engine = LockEngine.builder(this.counting).waitTime(Duration.ofHours(1)).build();
	}

	static OurLocks overJedis(int port) {
		return onRedis(Connections.jedis(port));
	}

	static OurLocks overLettuce(int port) {
		return onRedis(Connections.lettuce(port));
	}

	private static <F extends RedisConnectionFactory & DisposableBean> OurLocks onRedis(F factory) {
		return new OurLocks(factory, new RedisLockBackend(factory));
	}

	static OurLocks overJdbc(int port) {
		JdbcLockSettings settings = JdbcLockSettings.defaults();
		HikariDataSource pool = Connections.postgres(port);
		// As the starter makes it: a pool that may take longer is asked on another
		// thread.
		pool.setConnectionTimeout(settings.commandTimeout().toMillis());
		JdbcLockBackend backend = new JdbcLockBackend(pool, settings);
		backend.check(); // Finds out which database it is, as the start of an application
							// does.
		return new OurLocks(pool::close, backend);
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
