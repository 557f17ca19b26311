package io.github.distributedlock.benchmark;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * Spring Integration's registry.
 */
record IntegrationLocks(LockRegistry<?> registry, Runnable end) implements Locks {

	private static IntegrationLocks onRedis(int port, RedisLockType type) {
		JedisConnectionFactory connections = Connections.pooledJedis(port);
		RedisLockRegistry registry = new RedisLockRegistry(connections, "registry");
		registry.setRedisLockType(type);
		return new IntegrationLocks(registry, () -> {
			registry.destroy();
			connections.destroy();
		});
	}

	static IntegrationLocks telling(int port) {
		return onRedis(port, RedisLockType.PUB_SUB_LOCK);
	}

	static IntegrationLocks spinning(int port) {
		return onRedis(port, RedisLockType.SPIN_LOCK);
	}

	static IntegrationLocks overJdbc(HikariDataSource pool) {
		DefaultLockRepository repository = new DefaultLockRepository(pool);
		repository.setTransactionManager(new JdbcTransactionManager(pool));
		repository.afterPropertiesSet();
		repository.afterSingletonsInstantiated();
		repository.start();
		return new IntegrationLocks(new JdbcLockRegistry(repository), pool::close);
	}

	@Override
	public Mutex mutex(String key) {
		return new JdkMutex(this.registry.obtain(key));
	}

	@Override
	public void close() {
		this.end.run();
	}

}
