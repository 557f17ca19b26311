package io.github.distributedlock.backend.redis.wire;

import java.time.Duration;
import java.util.Set;

import io.github.distributedlock.backend.Holder;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStringCommands.SetOption;
import org.springframework.data.redis.core.types.Expiration;

/**
 * The values of keys, by commands that are atomic on every server.
 */
public final class Values {

	// By turns for a value and for readers.
	private static final int ATTEMPTS = 10;

	private Values() {
	}

	/**
	 * Sets the value of a key that does not exist.
	 * @return whether it did not
	 */
	@SuppressWarnings("deprecation") // What replaces it exists since Spring Data 4.1.
	public static boolean setIfAbsent(RedisConnection connection, byte[] name, String value, long millis) {
		Boolean set = connection.stringCommands()
			.set(name, KeyNames.bytes(value), Expiration.milliseconds(millis), SetOption.ifAbsent());
		return Boolean.TRUE.equals(set);
	}

	/**
	 * The holder of a lock, which readers may share that use scripts. It may become
	 * another's, and of another type, between two commands, so it is asked for several
	 * times before it is taken for no lock at all.
	 * @return the holder, of a shared lock one of those; {@code null} if the lock is free
	 */
	public static @Nullable Holder holder(RedisConnection connection, byte[] name) {
		for (int asked = 1;; asked++) {
			try {
				return (asked % 2 == 1) ? alone(connection, name) : reader(connection, name);
			}
			catch (RuntimeException ex) {
				if (asked == ATTEMPTS || !RedisRefusal.WRONGTYPE.isIn(ex)) {
					throw ex;
				}
			}
		}
	}

	private static @Nullable Holder alone(RedisConnection connection, byte[] name) {
		String value = get(connection, name);
		return (value != null) ? LockCodec.holder(value) : null;
	}

	private static @Nullable Holder reader(RedisConnection connection, byte[] name) {
		Set<byte[]> members = connection.zSetCommands().zRange(name, 0, 0);
		if (members == null || members.isEmpty()) {
			return null; // Gone meanwhile.
		}
		Holder holder = LockCodec.member(KeyNames.text(members.iterator().next()));
		if (holder == null) {
			throw new InvalidDataAccessApiUsageException("WRONGTYPE The sorted set is no shared lock");
		}
		return holder;
	}

	/**
	 * In how long a lock is free.
	 * @param millis its time to live as the server tells it, to the end of which it has
	 * its value
	 * @return {@code null} if it has none
	 */
	public static @Nullable Duration left(@Nullable Long millis) {
		if (millis == null || millis == -1) {
			return null;
		}
		return Duration.ofMillis(Math.max(0, millis) + 1);
	}

	public static @Nullable String get(RedisConnection connection, byte[] name) {
		byte[] value = connection.stringCommands().get(name);
		return (value != null) ? KeyNames.text(value) : null;
	}

}
