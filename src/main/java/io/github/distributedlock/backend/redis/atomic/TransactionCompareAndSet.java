package io.github.distributedlock.backend.redis.atomic;

import java.util.Arrays;
import java.util.List;

import io.github.distributedlock.backend.redis.wire.Command;
import io.github.distributedlock.backend.redis.wire.Command.Verb;
import io.github.distributedlock.backend.redis.wire.KeyNames;
import io.github.distributedlock.backend.redis.wire.Link;
import io.github.distributedlock.backend.redis.wire.RedisRefusal;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.OptimisticLockingFailureException;

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

	@Override
	public boolean replace(Link link, byte[] name, byte[] expected, byte @Nullable [] replacement, long millis) {
		for (int i = 0; i < ATTEMPTS; i++) {
			link.call(Command.of(Verb.WATCH, name));
			if (!Arrays.equals(link.bytes(Command.of(Verb.GET, name)), expected)) {
				link.call(Command.at(name, Verb.UNWATCH));
				return false;
			}
			List<?> answers = change(link, name, expected, replacement, millis);
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
	 * @param link the way to the server
	 * @param name the name of a key that does not exist
	 */
	void tryOut(Link link, byte[] name) {
		link.call(Command.of(Verb.WATCH, name));
		link.call(Command.at(name, Verb.UNWATCH));
		link.call(Command.of(Verb.WATCH, name));
		remove(link, name);
	}

	private @Nullable List<?> change(Link link, byte[] name, byte[] expected, byte @Nullable [] replacement,
			long millis) {
		if (replacement == null) {
			return remove(link, name);
		}
		byte[] time = KeyNames.number(millis);
		return Arrays.equals(replacement, expected) ? inTransaction(link, Command.of(Verb.PEXPIRE, name, time))
				: inTransaction(link, Command.of(Verb.SET, name, replacement, PX, time));
	}

	private @Nullable List<?> remove(Link link, byte[] name) {
		return inTransaction(link, Command.of(Verb.DEL, name));
	}

	// Not at all if the server refuses to begin a transaction: outside of it nothing
	// would keep others out.
	private static @Nullable List<?> inTransaction(Link link, Command change) {
		link.call(Command.at(change.key(), Verb.MULTI));
		Command exec = Command.at(change.key(), Verb.EXEC);
		try {
			link.call(change);
		}
		catch (RuntimeException ex) {
			if (RedisRefusal.of(ex) != null || RedisRefusal.isError(ex)) {
				abort(link, exec, ex);
			}
			throw ex;
		}
		return (List<?>) link.call(exec);
	}

	// Needs no further right, as DISCARD would.
	private static void abort(Link link, Command exec, RuntimeException refusal) {
		try {
			link.call(exec);
		}
		catch (RuntimeException ex) {
			refusal.addSuppressed(ex);
		}
	}

}
