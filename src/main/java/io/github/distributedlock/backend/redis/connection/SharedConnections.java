package io.github.distributedlock.backend.redis.connection;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import io.github.distributedlock.backend.redis.wire.Link;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.Subscription;

/**
 * The connections of a factory of which nothing can be derived, as they are. It is the
 * application's, so it is not closed.
 */
final class SharedConnections implements Lane, SignalLine {

	private static final long LOOK_NANOS = 100_000_000;

	private final RedisConnectionFactory factory;

	private SharedConnections(RedisConnectionFactory factory) {
		this.factory = factory;
	}

	static OwnConnections of(RedisConnectionFactory factory) {
		SharedConnections shared = new SharedConnections(factory);
		// Whether it is a cluster cannot be asked, so no waiter counts as deaf. Nor
		// does it promise that WATCH and EXEC go by the same connection: Redisson takes
		// one from its pool for each, and answers for a transaction that was aborted.
		return new OwnConnections(new Lanes(shared, shared), null, shared, true, Masters.ONE, false, "");
	}

	@Override
	public <T> @Nullable T run(Step<T> step) {
		try (RedisConnection connection = open()) {
			return step.on(link(connection));
		}
	}

	@Override
	public RedisConnection open() {
		return this.factory.getConnection();
	}

	@Override
	public Link link(RedisConnection connection) {
		return new SpringDataLink(connection);
	}

	@Override
	public void listen(RedisConnection connection, MessageListener listener, byte[] channel, BooleanSupplier over) {
		connection.subscribe(listener, channel);
		// Some clients return at once, and do not say when it is over.
		Subscription subscription = connection.getSubscription();
		while (!over.getAsBoolean() && subscription != null && subscription.isAlive() && !connection.isClosed()) {
			LockSupport.parkNanos(LOOK_NANOS);
		}
	}

	@Override
	public void drop(RedisConnection connection) {
		connection.close();
	}

	@Override
	public void close() {
	}

}
