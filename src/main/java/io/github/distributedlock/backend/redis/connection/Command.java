package io.github.distributedlock.backend.redis.connection;

import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * A command for the node that serves a key. What is no {@code byte[]} is sent as its
 * text.
 *
 * @param key a key of the node that is to carry it out: one of the arguments, the same
 * object, unless none of them is a key
 * @param arguments all that follows the verb, which nobody changes
 * @param next what is sent together with it, before its reply is awaited; mostly nothing
 */
public record Command(Verb verb, byte[] key, byte[][] arguments, @Nullable Command next) {

	/**
	 * A command whose first argument is the key.
	 */
	public static Command of(Verb verb, byte[] key, Object... more) {
		return new Command(verb, key, arguments(more, key), null);
	}

	/**
	 * A command of which no argument is a key.
	 * @param key a key of the node that is to carry it out
	 */
	public static Command at(byte[] key, Verb verb, Object... arguments) {
		return new Command(verb, key, arguments(arguments), null);
	}

	/**
	 * A script.
	 * @param verb {@code EVAL} or {@code EVALSHA}
	 * @param script its source or digest
	 * @param keys how many of the rest are keys, one at least
	 * @param keysAndArguments the rest
	 */
	public static Command script(Verb verb, byte[] script, int keys, Object... keysAndArguments) {
		byte[][] arguments = arguments(keysAndArguments, script, KeyNames.number(keys));
		return new Command(verb, arguments[2], arguments, null);
	}

	/**
	 * Sends another one with it, so that the sender cannot die in between. The reply is
	 * that of the last one, or the first error.
	 */
	public Command with(Command next) {
		return new Command(this.verb, this.key, this.arguments, next);
	}

	private static byte[][] arguments(Object[] more, byte[]... first) {
		byte[][] arguments = Arrays.copyOf(first, first.length + more.length);
		for (int i = 0; i < more.length; i++) {
			arguments[first.length + i] = (more[i] instanceof byte[] bytes) ? bytes
					: KeyNames.bytes(more[i].toString());
		}
		return arguments;
	}

	/**
	 * What a command does.
	 */
	public enum Verb {

		ASKING, CAD, CAS, CLUSTER, DEL, DELEX, DELIFEQ, EVAL, EVALSHA, EXEC, GET, INFO, MULTI, PEXPIRE, PING, PTTL,
		PUBLISH, SENTINEL, SET, TIME, UNWATCH, WAIT, WATCH, ZADD, ZRANGE, ZREM;

		private final byte[] bytes = KeyNames.bytes(name());

		/**
		 * Its name as it is sent.
		 * @return the name, which nobody changes
		 */
		public byte[] bytes() {
			return this.bytes;
		}

	}

}
