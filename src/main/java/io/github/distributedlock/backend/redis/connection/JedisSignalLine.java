package io.github.distributedlock.backend.redis.connection;

import java.util.function.BooleanSupplier;

import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.UnsentException;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/**
 * Subscriptions on Jedis, where subscribing blocks until the subscription ends.
 */
final class JedisSignalLine implements SignalLine {

	private final Lazy<JedisConnectionFactory> factory;

	JedisSignalLine(Lazy<JedisConnectionFactory> factory) {
		this.factory = factory;
	}

	@Override
	public RedisConnection open() {
		try {
			return this.factory.get().getConnection();
		}
		catch (JedisException ex) {
			// A pool finds its server first, if it is to ask a cluster for it.
			throw new UnsentException(ex);
		}
	}

	@Override
	public Link link(RedisConnection connection) {
		Object client = connection.getNativeConnection();
		return (client instanceof Jedis jedis) ? new JedisLink(jedis.getConnection())
				: new JedisClusterLink((UnifiedJedis) client);
	}

	@Override
	public void listen(RedisConnection connection, MessageListener listener, byte[] channel, BooleanSupplier over) {
		connection.subscribe(listener, channel);
	}

	@Override
	public void drop(RedisConnection connection) {
		// That of a cluster cannot be had.
		if (connection.getNativeConnection() instanceof Jedis jedis) {
			jedis.disconnect();
		}
	}

	/**
	 * Has the next connections lead to another master.
	 */
	void leave() {
		this.factory.renew();
	}

	@Override
	public void close() {
		this.factory.end();
	}

}
