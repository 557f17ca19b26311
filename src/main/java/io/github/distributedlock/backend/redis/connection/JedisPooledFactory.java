package io.github.distributedlock.backend.redis.connection;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import redis.clients.jedis.Jedis;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/**
 * Puts Spring Data's connection around each pooled one once, and not each time that it is
 * borrowed: that takes some forty objects, more than the command itself.
 * <p>
 * Invariant: what is around a connection is used only by the thread that has borrowed it.
 */
final class JedisPooledFactory extends JedisConnectionFactory {

	private final Map<Jedis, RedisConnection> wrapped = new ConcurrentHashMap<>();

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
	RedisConnection borrow() {
		if (!isRunning()) {
			// Would be given one without a pool.
			throw new IllegalStateException("the lock backend is closed");
		}
		Jedis jedis = fetchJedisConnector();
		RedisConnection connection = this.wrapped.get(jedis);
		return (connection != null) ? connection : another(jedis);
	}

	// Only Spring Data can wrap one, and it borrows that itself.
	private RedisConnection another(Jedis unwrapped) {
		unwrapped.close();
		RedisConnection connection = getConnection();
		if (connection.getNativeConnection() instanceof Jedis jedis) {
			// The pool does not tell which ones it has dropped.
			this.wrapped.keySet().removeIf((each) -> !each.isConnected());
			this.wrapped.put(jedis, connection);
		}
		return connection;
	}

}
