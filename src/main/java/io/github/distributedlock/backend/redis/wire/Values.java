package io.github.distributedlock.backend.redis.wire;

import java.time.Duration;
import java.util.Set;
import java.util.function.Supplier;

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
	 * The holder of a lock, which readers may share that use scripts.
	 * @return the holder, of a shared lock one of those; {@code null} if the lock is free
	 */
	public static @Nullable Holder holder(RedisConnection connection, byte[] name) {
		return aloneOrShared(() -> alone(connection, name), () -> reader(connection, name));
	}

	/**
	 * Asks for a lock that may be shared, and may become so, or cease to be, between two
	 * questions. So both are asked several times before it is taken for no lock at all.
	 * @param alone a question that fails if the lock is shared
	 * @param shared a question that fails if it is not
	 * @return the answer
	 */
	public static <T> @Nullable T aloneOrShared(Supplier<@Nullable T> alone, Supplier<@Nullable T> shared) {
		for (int asked = 1;; asked++) {
			try {
				return (asked % 2 == 1) ? alone.get() : shared.get();
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
		return member(KeyNames.text(members.iterator().next()));
	}

	/**
	 * Reads a member of a lock that is shared.
	 * @return the holder; fails if the sorted set is no lock
	 */
	public static Holder member(String member) {
		Holder holder = LockCodec.member(member);
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
