package io.github.distributedlock.backend.redis.atomic;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStringCommands.SetOption;
import org.springframework.data.redis.core.types.Expiration;

/**
 * Compares, and then sets. Not atomic: if the key runs out and another owner gets it
 * before the second command arrives, the lock of that owner is changed. So it leaves
 * alone what has not got some time to live, and a command that comes later than that is
 * what is left of the risk.
 */
public final class BestEffortCompareAndSet implements CompareAndSet {

	/**
	 * How long a key must have to live: half of a reservation, so that they can be taken.
	 */
	static final long MARGIN_MILLIS = WaitingList.RESERVATION.toMillis() / 2;

	@Override
	@SuppressWarnings("deprecation") // What replaces it exists since Spring Data 4.1.
	public boolean replace(RedisConnection connection, byte[] name, byte[] expected, byte @Nullable [] replacement,
			long millis) {
		if (!isSafe(connection, name, expected)) {
			return false;
		}
		if (replacement == null) {
			return Long.valueOf(1).equals(connection.keyCommands().del(name));
		}
		Boolean replaced = Arrays.equals(replacement, expected) ? connection.keyCommands().pExpire(name, millis)
				: connection.stringCommands()
					.set(name, replacement, Expiration.milliseconds(millis), SetOption.ifPresent());
		return Boolean.TRUE.equals(replaced);
	}

	private static boolean isSafe(RedisConnection connection, byte[] name, byte[] expected) {
		long begin = System.nanoTime();
		Long left = connection.keyCommands().pTtl(name);
		boolean same = Arrays.equals(connection.stringCommands().get(name), expected);
		long elapsed = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
		return same && left != null && left - elapsed > MARGIN_MILLIS;
	}

}
