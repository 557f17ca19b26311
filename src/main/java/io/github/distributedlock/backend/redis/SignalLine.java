package io.github.distributedlock.backend.redis;

import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;

/**
 * Connections for subscriptions, which are blocked for as long as they last.
 */
interface SignalLine {

	RedisConnection open();

	/**
	 * Subscribes, and returns when the subscription has ended, on purpose or not.
	 * @param connection the connection
	 * @param listener the listener, which is also told of the acknowledgement
	 * @param channel the channel
	 */
	void listen(RedisConnection connection, MessageListener listener, byte[] channel);

	void close();

}
