package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import io.github.distributedlock.backend.redis.wire.Link;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.pubsub.StatefulRedisClusterPubSubConnection;
import io.lettuce.core.protocol.DefaultEndpoint;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.Subscription;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Subscriptions on Lettuce, where subscribing returns at once, so a thread of ours has to
 * watch whether the connection still stands.
 */
final class LettuceSignalLine implements SignalLine {

	private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final Lazy<LettuceConnectionFactory> factory;

	private final Duration timeout;

	LettuceSignalLine(Lazy<LettuceConnectionFactory> factory, Duration timeout) {
		this.factory = factory;
		this.timeout = timeout;
	}

	@Override
	public RedisConnection open() {
		return LettuceStart.await(this.factory.get().getConnection());
	}

	@Override
	public Link link(RedisConnection connection) {
		return LettuceLink.of(connection, this.timeout.toNanos());
	}

	@Override
	public void listen(RedisConnection connection, MessageListener listener, byte[] channel, BooleanSupplier over) {
		LettuceStart.subscribe(connection, listener, channel);
		Subscription subscription = connection.getSubscription();
		RedisPubSubAsyncCommands<byte[], byte[]> commands = commands(connection);
		if (subscription == null || !subscription.isAlive() || commands == null) {
			return;
		}
		StatefulConnection<?, ?> link = commands.getStatefulConnection();
		Thread listening = Thread.currentThread();
		link.addListener(new RedisConnectionStateListener() {

			@Override
			public void onRedisDisconnected(RedisChannelHandler<?, ?> disconnected) {
				LockSupport.unpark(listening);
			}

		});
		while (!over.getAsBoolean() && subscription.isAlive() && link.isOpen()) {
			// What is heard makes it quick, looking makes it certain.
			LockSupport.parkNanos(LOOK_NANOS);
		}
	}

	@Override
	public void ask(RedisConnection connection, byte[] channel) {
		RedisPubSubAsyncCommands<byte[], byte[]> commands = commands(connection);
		if (commands != null) {
			commands.subscribe(channel);
		}
	}

	@Override
	public void drop(RedisConnection connection) {
		RedisPubSubAsyncCommands<byte[], byte[]> commands = commands(connection);
		if (commands != null) {
			disconnect(commands.getStatefulConnection());
		}
	}

	/**
	 * Ends a connection as the other side would, which is no reason for a warning when it
	 * is closed after that. One to a cluster would come back. Does not block.
	 */
	static void disconnect(StatefulConnection<?, ?> connection) {
		if (connection instanceof RedisChannelHandler<?, ?> handler
				&& !(connection instanceof StatefulRedisClusterPubSubConnection)
				&& handler.getChannelWriter() instanceof DefaultEndpoint endpoint) {
			endpoint.disconnect();
		}
		else {
			connection.closeAsync();
		}
	}

	@SuppressWarnings("unchecked")
	private static @Nullable RedisPubSubAsyncCommands<byte[], byte[]> commands(RedisConnection connection) {
		return (connection.getNativeConnection() instanceof RedisPubSubAsyncCommands<?, ?> commands)
				? (RedisPubSubAsyncCommands<byte[], byte[]>) commands : null;
	}

	@Override
	public void close() {
		this.factory.end();
	}

}
