package io.github.distributedlock.benchmark;

import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/**
 * Spring Integration's registry.
 */
final class IntegrationLocks implements Locks {

	private final JedisConnectionFactory connections;

	private final RedisLockRegistry registry;

	private IntegrationLocks(int port, RedisLockType type) {
		this.connections = Connections.pooledJedis(port);
		this.registry = new RedisLockRegistry(this.connections, "registry");
		this.registry.setRedisLockType(type);
	}

	static IntegrationLocks telling(int port) {
		return new IntegrationLocks(port, RedisLockType.PUB_SUB_LOCK);
	}

	static IntegrationLocks spinning(int port) {
		return new IntegrationLocks(port, RedisLockType.SPIN_LOCK);
	}

	@Override
	public Mutex mutex(String key) {
		return new JdkMutex(this.registry.obtain(key));
	}

	@Override
	public void close() {
		this.registry.destroy();
		this.connections.destroy();
	}

}
