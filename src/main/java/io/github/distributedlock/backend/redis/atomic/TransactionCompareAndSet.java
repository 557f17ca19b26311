package io.github.distributedlock.backend.redis.atomic;

import java.util.Arrays;
import java.util.List;

import io.github.distributedlock.backend.redis.connection.RawCommands;
import io.github.distributedlock.backend.redis.connection.RawCommands.Type;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.data.redis.connection.RedisConnection;

/**
 * Compares, and sets in a transaction that the server carries out only if no client has
 * touched the key since before the comparison (WATCH). Needs a connection that no other
 * thread uses meanwhile, and that does not reconnect, which would forget what is watched.
 */
final class TransactionCompareAndSet implements CompareAndSet {

	private static final byte[] PX = KeyNames.bytes("PX");

	/**
	 * What touches the key without changing its value is a renewal of our own.
	 */
	private static final int ATTEMPTS = 10;

	private final RawCommands raw;

	TransactionCompareAndSet(RawCommands raw) {
		this.raw = raw;
	}

	@Override
	public boolean replace(RedisConnection connection, byte[] name, byte[] expected, byte @Nullable [] replacement,
			long millis) {
		for (int i = 0; i < ATTEMPTS; i++) {
			connection.watch(name);
			if (!Arrays.equals(connection.stringCommands().get(name), expected)) {
				connection.unwatch();
				return false;
			}
			List<?> answers = change(connection, name, expected, replacement, millis);
			if (answers != null && !answers.isEmpty()) {
				// Whether the key had a moment to live still, where that matters.
				return replacement == null || !Long.valueOf(0).equals(answers.get(0));
			}
		}
		throw new OptimisticLockingFailureException(
				"the key was touched by others in each of " + ATTEMPTS + " transactions");
	}

	/**
	 * Runs a transaction that changes nothing.
	 * @param connection the connection
	 * @param name the name of a key that does not exist
	 */
	void tryOut(RedisConnection connection, byte[] name) {
		connection.watch(name);
		connection.unwatch();
		connection.watch(name);
		remove(connection, name);
	}

	private @Nullable List<?> change(RedisConnection connection, byte[] name, byte[] expected,
			byte @Nullable [] replacement, long millis) {
		if (replacement == null) {
			return remove(connection, name);
		}
		byte[] time = KeyNames.number(millis);
		return Arrays.equals(replacement, expected)
				? this.raw.inTransaction(connection, Type.NUMBER, "PEXPIRE", name, time)
				: this.raw.inTransaction(connection, Type.STATUS, "SET", name, replacement, PX, time);
	}

	private @Nullable List<?> remove(RedisConnection connection, byte[] name) {
		return this.raw.inTransaction(connection, Type.NUMBER, "DEL", name);
	}

}
