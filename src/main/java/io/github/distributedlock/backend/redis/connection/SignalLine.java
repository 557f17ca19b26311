package io.github.distributedlock.backend.redis.connection;

import java.util.function.BooleanSupplier;

import io.github.distributedlock.backend.redis.wire.Link;

import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.Subscription;

/**
 * Connections for subscriptions, which are blocked for as long as they last.
 */
public interface SignalLine {

	RedisConnection open();

	/**
	 * How to send commands on such a connection, as long as nothing is subscribed to.
	 * @param connection the connection
	 * @return the way, for one thread
	 */
	Link link(RedisConnection connection);

	/**
	 * Subscribes, and returns when the subscription has ended, on purpose or not.
	 * @param connection the connection
	 * @param listener the listener, which is also told of the acknowledgement
	 * @param channel the channel
	 * @param over whether the subscription is to end
	 */
	void listen(RedisConnection connection, MessageListener listener, byte[] channel, BooleanSupplier over);

	/**
	 * Asks for one more acknowledgement of a subscription. Does not wait for it.
	 * @param connection the connection
	 * @param channel the channel
	 */
	default void ask(RedisConnection connection, byte[] channel) {
		Subscription subscription = connection.getSubscription();
		if (subscription != null && subscription.isAlive()) {
			subscription.subscribe(channel);
		}
	}

	/**
	 * Ends a connection that does not answer any more, so that listening on it ends.
	 * @param connection the connection
	 */
	void drop(RedisConnection connection);

	void close();

}
