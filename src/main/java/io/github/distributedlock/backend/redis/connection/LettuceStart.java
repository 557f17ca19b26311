package io.github.distributedlock.backend.redis.connection;

import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.distributedlock.backend.redis.wire.RedisRefusal;

import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.Subscription;

/**
 * The first moment of a Lettuce connection. One that logs in and does not reconnect may
 * be handed out before it takes commands, and then rejects the first ones: about one in
 * 20,000 on a busy machine. One that the server refuses may be closed before Lettuce has
 * seen why: about one in 10 on a busy machine.
 */
final class LettuceStart {

	private static final int ATTEMPTS = 50;

	private static final int OPENINGS = 5;

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private LettuceStart() {
	}

	/**
	 * Waits until a new connection takes commands.
	 * @param connection the connection, which is closed if that fails
	 * @param <T> its type
	 * @return the connection
	 * @throws org.springframework.dao.DataAccessException if it cannot be opened, or
	 * gives no answer. What the server says against it is among the causes
	 */
	static <T extends RedisConnection> T await(T connection) {
		// One to a cluster reconnects, and would ask all of its nodes.
		if (connection instanceof RedisClusterConnection) {
			return connection;
		}
		try {
			awaitReady(connection);
			return connection;
		}
		catch (RuntimeException ex) {
			connection.close();
			throw ex;
		}
	}

	private static void awaitReady(RedisConnection connection) {
		int openings = 0;
		for (int i = 0; i < ATTEMPTS; i++) {
			try {
				if (!isRejected(() -> ping(connection))) {
					return;
				}
			}
			catch (RedisConnectionFailureException ex) {
				openings++;
				if (openings == OPENINGS || !isUnexplained(ex)) {
					throw ex;
				}
			}
			LockSupport.parkNanos(PAUSE_NANOS);
		}
	}

	private static boolean isUnexplained(RedisConnectionFailureException failure) {
		return RedisRefusal.saysIn(failure, "Connection closed prematurely")
				|| RedisRefusal.saysIn(failure, "RedisHandshakeHandler not registered");
	}

	private static void ping(RedisConnection connection) {
		try {
			connection.ping();
		}
		catch (RuntimeException ex) {
			// Any answer will do, also that the user may not ask, but not to the opening.
			if (ex instanceof RedisConnectionFailureException
					|| (RedisRefusal.of(ex) == null && !RedisRefusal.isError(ex))) {
				throw ex;
			}
		}
	}

	/**
	 * Subscribes to a channel, for which Spring Data opens a connection of its own.
	 * @param connection a connection without a subscription
	 * @param listener is told what is heard
	 * @param channel the channel
	 * @throws org.springframework.dao.DataAccessException if that fails, or the new
	 * connection takes no commands
	 */
	static void subscribe(RedisConnection connection, MessageListener listener, byte[] channel) {
		if (!isRejected(() -> connection.subscribe(listener, channel))) {
			return;
		}
		Subscription subscription = Objects.requireNonNull(connection.getSubscription());
		for (int i = 2; i < ATTEMPTS; i++) {
			LockSupport.parkNanos(PAUSE_NANOS);
			if (!isRejected(() -> subscription.subscribe(channel))) {
				return;
			}
		}
		subscription.subscribe(channel);
	}

	private static boolean isRejected(Runnable command) {
		try {
			command.run();
			return false;
		}
		catch (RuntimeException ex) {
			if (RedisRefusal.saysIn(ex, "Currently not connected")) {
				return true;
			}
			throw ex;
		}
	}

}
