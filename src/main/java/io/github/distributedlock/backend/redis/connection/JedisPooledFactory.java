package io.github.distributedlock.backend.redis.connection;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisSentinelPool;
import redis.clients.jedis.util.Pool;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/**
 * Lends Jedis' own connections, with Spring Data's settings, and knows whether those lent
 * before still lead to the master.
 */
// What replaces its pools in newer versions lends nothing.
@SuppressWarnings("deprecation")
final class JedisPooledFactory extends JedisConnectionFactory {

	private volatile @Nullable Pool<Jedis> pool;

	JedisPooledFactory(RedisClusterConfiguration cluster, JedisClientConfiguration settings) {
		super(cluster, settings);
	}

	JedisPooledFactory(RedisSentinelConfiguration sentinel, JedisClientConfiguration settings) {
		super(sentinel, settings);
	}

	JedisPooledFactory(RedisStandaloneConfiguration standalone, JedisClientConfiguration settings) {
		super(standalone, settings);
	}

	/**
	 * Borrows a connection for commands; not of a cluster, nor to subscribe, which needs
	 * one that is new.
	 * @return the connection, to be closed when done
	 */
	Jedis borrow() {
		if (!isRunning()) {
			// Would be given one without a pool.
			throw new IllegalStateException("the lock backend is closed");
		}
		return fetchJedisConnector();
	}

	/**
	 * Whether to borrow a connection now opens none: one is idle, or all are lent; or
	 * nothing is known of that.
	 */
	boolean opensNone() {
		Pool<Jedis> pool = this.pool;
		return pool == null || pool.getNumIdle() > 0 || pool.getNumActive() >= pool.getMaxTotal();
	}

	@Override
	protected Pool<Jedis> createRedisPool() {
		Pool<Jedis> pool = super.createRedisPool();
		this.pool = pool;
		return pool;
	}

	@Override
	protected Pool<Jedis> createRedisSentinelPool(RedisSentinelConfiguration servers) {
		Pool<Jedis> pool = super.createRedisSentinelPool(servers);
		this.pool = pool;
		return pool;
	}

	/**
	 * The master, if Sentinels say which it is.
	 * @return what connections lead to from now on; {@code null} if that never changes
	 */
	@Nullable Object master() {
		return (this.pool instanceof JedisSentinelPool sentinels) ? sentinels.getCurrentHostMaster() : null;
	}

}
