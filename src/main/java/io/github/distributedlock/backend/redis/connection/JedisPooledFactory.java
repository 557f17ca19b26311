package io.github.distributedlock.backend.redis.connection;

import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.util.Pool;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/**
 * Lends Jedis' own connections, with Spring Data's settings, and knows whether they still
 * lead to the master.
 */
// What replaces its pools in newer versions lends nothing.
@SuppressWarnings("deprecation")
final class JedisPooledFactory extends JedisConnectionFactory {

	private final BooleanSupplier master;

	private volatile @Nullable Pool<Jedis> pool;

	JedisPooledFactory(RedisClusterConfiguration cluster, JedisClientConfiguration settings) {
		super(cluster, settings);
		this.master = () -> true;
	}

	JedisPooledFactory(RedisStandaloneConfiguration standalone, JedisClientConfiguration settings) {
		this(standalone, settings, () -> true);
	}

	/**
	 * Creates the factory.
	 * @param master a server that is the master now
	 * @param settings the settings
	 * @param isMaster whether it still is
	 */
	JedisPooledFactory(RedisStandaloneConfiguration master, JedisClientConfiguration settings,
			BooleanSupplier isMaster) {
		super(master, settings);
		this.master = isMaster;
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

	/**
	 * Whether its server is still the master, as far as is known without I/O.
	 */
	boolean leadsToMaster() {
		return this.master.getAsBoolean();
	}

}
