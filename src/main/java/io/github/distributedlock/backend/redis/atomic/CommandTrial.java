package io.github.distributedlock.backend.redis.atomic;

import java.util.List;

import io.github.distributedlock.backend.redis.connection.RawCommands;
import io.github.distributedlock.backend.redis.wire.KeyNames;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisStringCommands.SetOption;
import org.springframework.data.redis.connection.RedisZSetCommands.ZAddArgs;
import org.springframework.data.redis.core.types.Expiration;

/**
 * All that steps of plain commands send but for wake-ups, on the names of a key that is
 * not in use. So a command that the server refuses is known before there is a lock that
 * could not be released. Scripts have theirs in {@code trial.lua}.
 * <p>
 * Invariant: whatever becomes of it, no key exists afterwards.
 */
final class CommandTrial {

	private static final byte[] NOTHING = {};

	private final KeyNames names;

	private final RawCommands raw;

	CommandTrial(KeyNames names, RawCommands raw) {
		this.names = names;
		this.raw = raw;
	}

	/**
	 * Sends them.
	 * @param connection the connection
	 * @param key a key that is not in use
	 */
	void run(RedisConnection connection, String key) {
		for (byte[] name : List.of(this.names.lock(key), this.names.fence(key))) {
			setIfPresent(connection, name);
			connection.stringCommands().get(name);
			connection.keyCommands().pTtl(name);
			connection.keyCommands().pExpire(name, 1);
			connection.keyCommands().del(name);
			this.raw.micros(connection, name);
		}
		byte[] waiters = this.names.waiters(key);
		connection.zSetCommands().zAdd(waiters, 1, NOTHING, ZAddArgs.ifExists());
		connection.keyCommands().pExpire(waiters, 1);
		connection.zSetCommands().zRange(waiters, 0, 0);
		connection.zSetCommands().zRem(waiters, NOTHING);
	}

	@SuppressWarnings("deprecation") // What replaces it exists since Spring Data 4.1.
	static void setIfPresent(RedisConnection connection, byte[] name) {
		connection.stringCommands().set(name, NOTHING, Expiration.milliseconds(1), SetOption.ifPresent());
	}

}
