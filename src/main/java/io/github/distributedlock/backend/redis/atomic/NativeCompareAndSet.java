package io.github.distributedlock.backend.redis.atomic;

import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Command.Verb;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import org.jspecify.annotations.Nullable;

/**
 * Compares and sets by a command that the server has for it. They differ from server to
 * server.
 */
enum NativeCompareAndSet implements CompareAndSet {

	/** Redis 8.4 and newer. */
	DELEX {

		@Override
		boolean remove(Link link, byte[] name, byte[] expected) {
			return link.number(Command.of(Verb.DELEX, name, IFEQ, expected)) == 1;
		}

	},

	/** Valkey 9 and newer. */
	DELIFEQ {

		@Override
		boolean remove(Link link, byte[] name, byte[] expected) {
			return link.number(Command.of(Verb.DELIFEQ, name, expected)) == 1;
		}

	},

	/** Valkey 8.1, or where nothing else is allowed. */
	SET_IFEQ {

		// A key whose time is over is gone for everybody, whether or not the server has
		// removed it yet.
		@Override
		boolean remove(Link link, byte[] name, byte[] expected) {
			return link.ok(Command.of(Verb.SET, name, NOTHING, IFEQ, expected, PXAT, LONG_AGO));
		}

	},

	/** Tair, the server of Alibaba Cloud. */
	TAIR {

		@Override
		boolean remove(Link link, byte[] name, byte[] expected) {
			return link.number(Command.of(Verb.CAD, name, expected)) == 1;
		}

		@Override
		boolean set(Link link, byte[] name, byte[] expected, byte[] replacement, byte[] millis) {
			return link.number(Command.of(Verb.CAS, name, expected, replacement, PX, millis)) == 1;
		}

	};

	private static final byte[] IFEQ = KeyNames.bytes("IFEQ");

	private static final byte[] PX = KeyNames.bytes("PX");

	private static final byte[] PXAT = KeyNames.bytes("PXAT");

	private static final byte[] LONG_AGO = KeyNames.number(1);

	private static final byte[] NOTHING = {};

	abstract boolean remove(Link link, byte[] name, byte[] expected);

	boolean set(Link link, byte[] name, byte[] expected, byte[] replacement, byte[] millis) {
		return link.ok(Command.of(Verb.SET, name, replacement, IFEQ, expected, PX, millis));
	}

	@Override
	public boolean replace(Link link, byte[] name, byte[] expected, byte @Nullable [] replacement, long millis) {
		return (replacement != null) ? set(link, name, expected, replacement, KeyNames.number(millis))
				: remove(link, name, expected);
	}

}
