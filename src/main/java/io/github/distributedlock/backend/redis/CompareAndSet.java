package io.github.distributedlock.backend.redis;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

import io.github.distributedlock.backend.redis.internal.Command;
import io.github.distributedlock.backend.redis.internal.Command.Verb;
import io.github.distributedlock.backend.redis.internal.Link;
import io.github.distributedlock.backend.redis.internal.RedisRefusal;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.OptimisticLockingFailureException;

/**
 * The one operation that has to be atomic for locks to be safe: compare and set. Servers
 * differ in the commands that they allow for this operation.
 */
interface CompareAndSet {

	/**
	 * Returns all ways except the script, the best first.
	 */
	static Stream<CompareAndSet> withoutScripts() {
		return Stream.concat(Stream.of(Native.values()), Stream.of(new Transaction(), new BestEffort()));
	}

	/**
	 * Replaces the value of a key if the key has the expected value, else changes
	 * nothing.
	 * @param replacement the new value, {@code null} to remove the key
	 * @param millis the new time to live, in milliseconds
	 * @return whether the value was replaced
	 */
	boolean replace(Link link, byte[] name, String expected, @Nullable String replacement, long millis);

	/**
	 * Sets the value of a key that has the expected value, or that does not exist if
	 * {@code expected} is {@code null}.
	 * @return whether the value was set
	 */
	default boolean set(Link link, byte[] name, @Nullable String expected, String value, long millis) {
		return (expected != null) ? replace(link, name, expected, value, millis)
				: Values.setIfAbsent(link, name, value, millis);
	}

	Atomicity atomicity();

	default String description() {
		return atomicity().text();
	}

	/**
	 * Sends each command of this way, on a key that does not exist.
	 */
	default void probe(Link link, byte[] name) {
		String unused = "nothing has this value";
		replace(link, name, unused, unused, 1);
		replace(link, name, unused, null, 1);
	}

	/**
	 * Compares and sets in a script.
	 */
	final class Lua implements CompareAndSet {

		private final LuaScript script = new LuaScript("compare-and-set");

		@Override
		public Atomicity atomicity() {
			return Atomicity.LUA;
		}

		@Override
		public boolean replace(Link link, byte[] name, String expected, @Nullable String replacement, long millis) {
			Object replaced = (replacement != null) ? this.script.run(link, 1, name, expected, millis, replacement)
					: this.script.run(link, 1, name, expected, millis);
			return Long.valueOf(1).equals(replaced);
		}

	}

	/**
	 * Compares and sets by a command of the server. The commands differ from server to
	 * server.
	 */
	enum Native implements CompareAndSet {

		/** Redis 8.4 and newer. */
		DELEX,

		/** Valkey 9 and newer. */
		DELIFEQ,

		/** Valkey 8.1, or a server that allows no better command. */
		SET_IFEQ,

		/** Tair, the server of Alibaba Cloud. */
		TAIR;

		@Override
		public Atomicity atomicity() {
			return Atomicity.NATIVE;
		}

		@Override
		public String description() {
			return "native (" + name().replace('_', ' ') + ")";
		}

		@Override
		public boolean replace(Link link, byte[] name, String expected, @Nullable String replacement, long millis) {
			if (replacement == null) {
				return remove(link, name, expected);
			}
			return (this == TAIR) ? link.number(Command.of(Verb.CAS, name, expected, replacement, "PX", millis)) == 1
					: link.ok(Command.of(Verb.SET, name, replacement, "IFEQ", expected, "PX", millis));
		}

		private boolean remove(Link link, byte[] name, String expected) {
			return switch (this) {
				case DELEX -> link.number(Command.of(Verb.DELEX, name, "IFEQ", expected)) == 1;
				case DELIFEQ -> link.number(Command.of(Verb.DELIFEQ, name, expected)) == 1;
				// A key whose time is over is gone for everybody, whether or not the
				// server has removed the key yet.
				case SET_IFEQ -> link.ok(Command.of(Verb.SET, name, "", "IFEQ", expected, "PXAT", 1));
				case TAIR -> link.number(Command.of(Verb.CAD, name, expected)) == 1;
			};
		}

	}

	/**
	 * Compares and sets in a transaction that the server carries out only if no client
	 * has touched the key since before the comparison (WATCH). Needs a connection that no
	 * other thread uses meanwhile, and that does not reconnect: a new connection watches
	 * nothing.
	 */
	final class Transaction implements CompareAndSet {

		/**
		 * How often a transaction is tried. Only renewals of this owner touch the key
		 * without changing the value.
		 */
		private static final int ATTEMPTS = 10;

		@Override
		public Atomicity atomicity() {
			return Atomicity.TRANSACTION;
		}

		@Override
		public boolean replace(Link link, byte[] name, String expected, @Nullable String replacement, long millis) {
			for (int i = 0; i < ATTEMPTS; i++) {
				link.call(Command.of(Verb.WATCH, name));
				if (!expected.equals(Values.get(link, name))) {
					link.call(Command.at(name, Verb.UNWATCH));
					return false;
				}
				List<?> answers = inTransaction(link, change(name, expected, replacement, millis));
				if (answers != null && !answers.isEmpty()) {
					// A replacement counts only if the key still existed when the command
					// ran.
					return replacement == null || !Long.valueOf(0).equals(answers.get(0));
				}
			}
			throw new OptimisticLockingFailureException(
					"the key was touched by others in each of " + ATTEMPTS + " transactions");
		}

		private static Command change(byte[] name, String expected, @Nullable String replacement, long millis) {
			if (replacement == null) {
				return Command.of(Verb.DEL, name);
			}
			return replacement.equals(expected) ? Command.of(Verb.PEXPIRE, name, millis)
					: Command.of(Verb.SET, name, replacement, "PX", millis);
		}

		@Override
		public void probe(Link link, byte[] name) {
			link.call(Command.of(Verb.WATCH, name));
			link.call(Command.at(name, Verb.UNWATCH));
			link.call(Command.of(Verb.WATCH, name));
			inTransaction(link, Command.of(Verb.DEL, name));
		}

		// If the server refuses MULTI, the change is not sent: outside of a transaction
		// nothing would keep other clients out.
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

		// EXEC needs no further right, while DISCARD would.
		private static void abort(Link link, Command exec, RuntimeException refusal) {
			try {
				link.call(exec);
			}
			catch (RuntimeException ex) {
				refusal.addSuppressed(ex);
			}
		}

	}

	/**
	 * Compares, and then sets. Not atomic. Three rules keep others from changing the
	 * value in between:
	 * <ul>
	 * <li>Only the instance that a value names changes the value: the instance of the
	 * owner, or of the waiter that the lock is reserved for. See {@link PlainSteps}.</li>
	 * <li>An instance compares and changes a key one time after another.</li>
	 * <li>The value does not run out in between: a value with too little time to live is
	 * left alone. Two risks remain. A command may arrive later than that. And instances
	 * that use {@link Atomicity#NATIVE} or {@link Atomicity#TRANSACTION} pass on a
	 * reservation whose waiter does not hear, while that waiter may still take the
	 * reservation.</li>
	 * </ul>
	 */
	final class BestEffort implements CompareAndSet {

		private final NameLocks underWay = new NameLocks();

		@Override
		public Atomicity atomicity() {
			return Atomicity.BEST_EFFORT;
		}

		@Override
		public boolean replace(Link link, byte[] name, String expected, @Nullable String replacement, long millis) {
			ReentrantLock underWay = this.underWay.of(KeyNames.text(name));
			underWay.lock();
			try {
				return isSafe(link, name, expected) && change(link, name, expected, replacement, millis);
			}
			finally {
				underWay.unlock();
			}
		}

		private static boolean isSafe(Link link, byte[] name, String expected) {
			long begin = System.nanoTime();
			long left = Values.timeToLive(link, name);
			boolean same = expected.equals(Values.get(link, name));
			long elapsed = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
			return same && left - elapsed > Atomicity.MARGIN_MILLIS;
		}

		private static boolean change(Link link, byte[] name, String expected, @Nullable String replacement,
				long millis) {
			if (replacement == null) {
				return link.number(Command.of(Verb.DEL, name)) == 1;
			}
			return replacement.equals(expected) ? link.number(Command.of(Verb.PEXPIRE, name, millis)) == 1
					: Values.setIfPresent(link, name, replacement, millis);
		}

	}

}
