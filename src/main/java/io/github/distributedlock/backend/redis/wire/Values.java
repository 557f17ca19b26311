package io.github.distributedlock.backend.redis.wire;

import java.time.Duration;
import java.util.Set;
import java.util.stream.Stream;

import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
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
	 * The value of a lock, which readers may share that use scripts. It may become
	 * another's, and of another type, between two commands, so it is asked for several
	 * times before it is taken for no lock at all.
	 * @return it; of a shared lock one that stands for the readers
	 */
	public static @Nullable String ofLock(RedisConnection connection, byte[] name) {
		for (int asked = 1;; asked++) {
			try {
				return (asked % 2 == 1) ? get(connection, name) : reader(connection, name);
			}
			catch (RuntimeException ex) {
				if (asked == ATTEMPTS || !RedisRefusal.WRONGTYPE.isIn(ex)) {
					throw ex;
				}
			}
		}
	}

	private static @Nullable String reader(RedisConnection connection, byte[] name) {
		Set<byte[]> members = connection.zSetCommands().zRange(name, 0, 0);
		if (members == null || members.isEmpty()) {
			return null; // Gone meanwhile.
		}
		String member = KeyNames.text(members.iterator().next());
		if (Stream.of(Claim.SHARED, LockBackend.RESERVED, LockBackend.PARKED).noneMatch(member::startsWith)) {
			throw new InvalidDataAccessApiUsageException("WRONGTYPE The sorted set is no shared lock");
		}
		return member.startsWith(Claim.SHARED) ? member : Claim.SHARED + member;
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
