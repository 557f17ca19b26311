package io.github.distributedlock.backend.redis.atomic;

import java.util.List;

import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Command.Verb;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.Values;

/**
 * All that steps of plain commands send but for wake-ups, on the names of a key that is
 * not in use. So a command that the server refuses is known before there is a lock that
 * could not be released. Scripts have theirs in {@code trial.lua}.
 * <p>
 * Invariant: whatever becomes of it, no key exists afterwards.
 */
final class CommandTrial {

	private static final byte[] NOTHING = {};

	private static final byte[] ONE = KeyNames.number(1);

	private final KeyNames names;

	CommandTrial(KeyNames names) {
		this.names = names;
	}

	/**
	 * Sends them.
	 * @param link the way to the server
	 * @param key a key that is not in use
	 */
	void run(Link link, String key) {
		for (byte[] name : List.of(this.names.lock(key), this.names.fence(key))) {
			Values.setIfPresent(link, name, NOTHING, 1);
			link.call(Command.of(Verb.GET, name));
			link.call(Command.of(Verb.PTTL, name));
			link.call(Command.of(Verb.PEXPIRE, name, ONE));
			link.call(Command.of(Verb.DEL, name));
			Values.micros(link, name);
		}
		byte[] waiters = this.names.waiters(key);
		link.call(Command.of(Verb.ZADD, waiters, KeyNames.bytes("XX"), ONE, NOTHING));
		link.call(Command.of(Verb.PEXPIRE, waiters, ONE));
		Values.members(link, waiters, 0, 0);
		link.call(Command.of(Verb.ZREM, waiters, NOTHING));
	}

}
