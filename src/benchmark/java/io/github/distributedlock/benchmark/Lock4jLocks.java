package io.github.distributedlock.benchmark;

import java.util.List;
import java.util.concurrent.TimeUnit;

import com.baomidou.lock.LockInfo;
import com.baomidou.lock.LockTemplate;
import com.baomidou.lock.executor.RedisTemplateLockExecutor;
import com.baomidou.lock.spring.boot.autoconfigure.Lock4jProperties;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

final class Lock4jLocks implements Locks {

	private static final long LEASE_MILLIS = 30_000;

	private static final long PATIENCE_MILLIS = TimeUnit.HOURS.toMillis(1);

	private final JedisConnectionFactory connections;

	private final LockTemplate template = new LockTemplate();

	Lock4jLocks(int port) {
		this.connections = Connections.pooledJedis(port);
		Lock4jProperties properties = new Lock4jProperties();
		this.template.setProperties(properties);
		this.template.setExecutors(
				List.of(new RedisTemplateLockExecutor(new StringRedisTemplate(this.connections), properties)));
		try {
			this.template.afterPropertiesSet();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public Mutex mutex(String key) {
		return new Held(this.template, key);
	}

	@Override
	public void close() {
		this.connections.destroy();
	}

	private static final class Held implements Mutex {

		private final LockTemplate template;

		private final String key;

		private @Nullable LockInfo lock;

		private Held(LockTemplate template, String key) {
			this.template = template;
			this.key = key;
		}

		@Override
		public void lock() {
			this.lock = this.template.lock(this.key, LEASE_MILLIS, PATIENCE_MILLIS);
			if (this.lock == null) {
				throw new IllegalStateException("Lock4j did not get " + this.key + " within an hour");
			}
		}

		@Override
		public void unlock() {
			this.template.releaseLock(this.lock);
		}

	}

}
