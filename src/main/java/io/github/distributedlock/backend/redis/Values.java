package io.github.distributedlock.backend.redis;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStringCommands.SetOption;
import org.springframework.data.redis.core.types.Expiration;

/**
 * The values of keys, by commands that are atomic on every server.
 */
final class Values {

	private Values() {
	}

	/**
	 * Sets the value of a key that does not exist.
	 * @return whether it did not
	 */
	@SuppressWarnings("deprecation") // What replaces it exists since Spring Data 4.1.
	static boolean setIfAbsent(RedisConnection connection, byte[] name, String value, long millis) {
		Boolean set = connection.stringCommands()
			.set(name, KeyNames.bytes(value), Expiration.milliseconds(millis), SetOption.ifAbsent());
		return Boolean.TRUE.equals(set);
	}

	static @Nullable String get(RedisConnection connection, byte[] name) {
		byte[] value = connection.stringCommands().get(name);
		return (value != null) ? KeyNames.text(value) : null;
	}

}
