package io.github.distributedlock.backend.redis.wire;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.ReturnType;

/**
 * A command for the node that serves a key.
 */
public final class Command {

	private final Verb verb;

	private final byte[] key;

	private final byte[][] arguments;

	private final @Nullable ReturnType answer;

	private Command(Verb verb, byte[] key, byte[][] arguments, @Nullable ReturnType answer) {
		this.verb = verb;
		this.key = key;
		this.arguments = arguments;
		this.answer = answer;
	}

	/**
	 * A command whose first argument is the key.
	 */
	public static Command of(Verb verb, byte[] key, byte[]... more) {
		byte[][] arguments = new byte[more.length + 1][];
		arguments[0] = key;
		System.arraycopy(more, 0, arguments, 1, more.length);
		return new Command(verb, key, arguments, null);
	}

	/**
	 * A command of which no argument is a key.
	 * @param key a key of the node that is to carry it out
	 */
	public static Command at(byte[] key, Verb verb, byte[]... arguments) {
		return new Command(verb, key, arguments, null);
	}

	/**
	 * A script.
	 * @param verb {@code EVAL} or {@code EVALSHA}
	 * @param script its source or digest
	 * @param answer what it answers, which some clients have to know
	 * @param keys how many of the rest are keys; without any, each node will do
	 * @param keysAndArguments the rest
	 */
	public static Command script(Verb verb, byte[] script, ReturnType answer, int keys, byte[]... keysAndArguments) {
		byte[][] arguments = new byte[keysAndArguments.length + 2][];
		arguments[0] = script;
		arguments[1] = KeyNames.number(keys);
		System.arraycopy(keysAndArguments, 0, arguments, 2, keysAndArguments.length);
		return new Command(verb, (keys > 0) ? keysAndArguments[0] : script, arguments, answer);
	}

	public Verb verb() {
		return this.verb;
	}

	/**
	 * A key of the node that is to carry it out: one of the arguments, the same object,
	 * unless none of them is a key.
	 */
	public byte[] key() {
		return this.key;
	}

	/**
	 * All that follows the verb.
	 * @return the arguments, which nobody changes
	 */
	public byte[][] arguments() {
		return this.arguments;
	}

	/**
	 * What a script answers.
	 * @return {@code null} if this is no script
	 */
	public @Nullable ReturnType answer() {
		return this.answer;
	}

	/**
	 * What a command does.
	 */
	public enum Verb {

		CAD, CAS, DEL, DELEX, DELIFEQ, EVAL, EVALSHA, EXEC, GET, INFO, MULTI, PEXPIRE, PTTL, PUBLISH, SENTINEL, SET,
		TIME, UNWATCH, WAIT, WATCH, ZADD, ZRANGE, ZREM;

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
