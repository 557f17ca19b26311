package io.github.distributedlock.backend.redis.internal;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * A command for the node that serves a key. An argument that is no {@code byte[]} is sent
 * as text.
 *
 * @param key a key of the node that is to carry the command out: one of the arguments,
 * the same object, unless no argument is a key
 * @param arguments all arguments after the verb, which nobody changes
 * @param next the command that is sent together with this one, before the reply of this
 * one is awaited; mostly {@code null}
 */
public record Command(Verb verb, byte[] key, byte[][] arguments, @Nullable Command next) {

	/**
	 * Creates a command whose first argument is the key.
	 */
	public static Command of(Verb verb, byte[] key, Object... more) {
		return new Command(verb, key, arguments(more, key), null);
	}

	/**
	 * Creates a command without a key among the arguments.
	 * @param key a key of the node that is to carry the command out
	 */
	public static Command at(byte[] key, Verb verb, Object... arguments) {
		return new Command(verb, key, arguments(arguments), null);
	}

	/**
	 * Creates a command that runs a script.
	 * @param verb {@code EVAL} or {@code EVALSHA}
	 * @param script the source or the digest of the script
	 * @param keys how many of the other arguments are keys, at least one
	 * @param keysAndArguments the keys, and then the other arguments
	 */
	public static Command script(Verb verb, byte[] script, int keys, Object... keysAndArguments) {
		byte[][] arguments = arguments(keysAndArguments, script, encoded(keys));
		return new Command(verb, arguments[2], arguments, null);
	}

	/**
	 * Returns this command together with another, so that the sender cannot die between
	 * the two. The reply is the reply of the last command, or the first error.
	 */
	public Command with(Command next) {
		return new Command(this.verb, this.key, this.arguments, next);
	}

	/**
	 * Returns the length of all arguments.
	 */
	int bytes() {
		int bytes = 0;
		for (byte[] argument : this.arguments) {
			bytes += argument.length;
		}
		return bytes;
	}

	private static byte[][] arguments(Object[] more, byte[]... first) {
		byte[][] arguments = Arrays.copyOf(first, first.length + more.length);
		for (int i = 0; i < more.length; i++) {
			arguments[first.length + i] = encoded(more[i]);
		}
		return arguments;
	}

	private static byte[] encoded(Object argument) {
		return (argument instanceof byte[] bytes) ? bytes : argument.toString().getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * The name of a command.
	 */
	public enum Verb {

		ASKING, CAD, CAS, CLUSTER, DEL, DELEX, DELIFEQ, EVAL, EVALSHA, EXEC, GET, INFO, MULTI, PEXPIRE, PING, PTTL,
		PUBLISH, SENTINEL, SET, TIME, UNWATCH, WAIT, WATCH, ZADD, ZRANGE, ZREM;

		private final byte[] bytes = name().getBytes(StandardCharsets.UTF_8);

		/**
		 * Returns the name in the form that is sent.
		 * @return the name, which nobody changes
		 */
		public byte[] bytes() {
			return this.bytes;
		}

	}

}
