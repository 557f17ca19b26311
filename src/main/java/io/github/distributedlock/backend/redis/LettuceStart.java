package io.github.distributedlock.backend.redis;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.springframework.data.redis.connection.RedisClusterConnection;
import org.springframework.data.redis.connection.RedisConnection;

/**
 * The first moment of a Lettuce connection. One that logs in and does not reconnect may
 * be handed out before it takes commands, and then rejects the first ones: about one in
 * 20,000 on a busy machine.
 */
final class LettuceStart {

	private static final int ATTEMPTS = 50;

	private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private LettuceStart() {
	}

	/**
	 * Waits until a new connection takes commands.
	 * @param connection the connection, which is closed if that fails
	 * @param <T> its type
	 * @return the connection
	 * @throws org.springframework.dao.DataAccessException if it cannot be opened, or
	 * gives no answer
	 */
	static <T extends RedisConnection> T await(T connection) {
		// One to a cluster reconnects, and would ask all of its nodes.
		if (connection instanceof RedisClusterConnection) {
			return connection;
		}
		try {
			for (int i = 0; i < ATTEMPTS && isRejected(connection); i++) {
				LockSupport.parkNanos(PAUSE_NANOS);
			}
			return connection;
		}
		catch (RuntimeException ex) {
			connection.close();
			throw ex;
		}
	}

	private static boolean isRejected(RedisConnection connection) {
		try {
			connection.ping();
			return false;
		}
		catch (RuntimeException ex) {
			// Any answer will do, also that the user may not ask.
			if (RedisRefusal.of(ex) != null || RedisRefusal.isError(ex)) {
				return false;
			}
			if (RedisRefusal.saysIn(ex, "Currently not connected")) {
				return true;
			}
			throw ex;
		}
	}

}
