package io.github.distributedlock.backend.redis.connection;

import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/**
 * Lends Jedis' own connections, with Spring Data's settings.
 */
final class JedisPooledFactory extends JedisConnectionFactory {

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
	@SuppressWarnings("deprecation") // What replaces it borrows for each command.
	Jedis borrow() {
		if (!isRunning()) {
			// Would be given one without a pool.
			throw new IllegalStateException("the lock backend is closed");
		}
		return fetchJedisConnector();
	}

}
