package io.github.distributedlock.backend.redis.atomic;

import java.util.function.Function;

import io.github.distributedlock.backend.redis.connection.RawCommands;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;

/**
 * Compares and sets by a command that the server has for it. They differ from server to
 * server.
 */
enum NativeCompareAndSet implements Function<RawCommands, CompareAndSet> {

	/** Redis 8.4 and newer. */
	DELEX {

		@Override
		boolean remove(RawCommands raw, RedisConnection connection, byte[] name, byte[] expected) {
			return raw.number(connection, "DELEX", name, IFEQ, expected) == 1;
		}

	},

	/** Valkey 9 and newer. */
	DELIFEQ {

		@Override
		boolean remove(RawCommands raw, RedisConnection connection, byte[] name, byte[] expected) {
			return raw.number(connection, "DELIFEQ", name, expected) == 1;
		}

	},

	/** Valkey 8.1, or where nothing else is allowed. */
	SET_IFEQ {

		// A key whose time is over is gone for everybody, whether or not the server has
		// removed it yet.
		@Override
		boolean remove(RawCommands raw, RedisConnection connection, byte[] name, byte[] expected) {
			return raw.ok(connection, "SET", name, NOTHING, IFEQ, expected, PXAT, LONG_AGO);
		}

	},

	/** Tair, the server of Alibaba Cloud. */
	TAIR {

		@Override
		boolean remove(RawCommands raw, RedisConnection connection, byte[] name, byte[] expected) {
			return raw.number(connection, "CAD", name, expected) == 1;
		}

		@Override
		boolean set(RawCommands raw, RedisConnection connection, byte[] name, byte[] expected, byte[] replacement,
				byte[] millis) {
			return raw.number(connection, "CAS", name, expected, replacement, PX, millis) == 1;
		}

	};

	private static final byte[] IFEQ = KeyNames.bytes("IFEQ");

	private static final byte[] PX = KeyNames.bytes("PX");

	private static final byte[] PXAT = KeyNames.bytes("PXAT");

	private static final byte[] LONG_AGO = KeyNames.number(1);

	private static final byte[] NOTHING = {};

	abstract boolean remove(RawCommands raw, RedisConnection connection, byte[] name, byte[] expected);

	boolean set(RawCommands raw, RedisConnection connection, byte[] name, byte[] expected, byte[] replacement,
			byte[] millis) {
		return raw.ok(connection, "SET", name, replacement, IFEQ, expected, PX, millis);
	}

	/**
	 * Makes it work.
	 * @param raw how to send the command
	 * @return compare and set
	 */
	@Override
	public CompareAndSet apply(RawCommands raw) {
		return (connection, name, expected, replacement, millis) -> replace(raw, connection, name, expected,
				replacement, KeyNames.number(millis));
	}

	private boolean replace(RawCommands raw, RedisConnection connection, byte[] name, byte[] expected,
			byte @Nullable [] replacement, byte[] millis) {
		return (replacement != null) ? set(raw, connection, name, expected, replacement, millis)
				: remove(raw, connection, name, expected);
	}

}
