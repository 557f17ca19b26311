package io.github.distributedlock.backend.redis.connection;

import java.util.List;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisZSetCommands.ZAddArgs;

/**
 * Commands for which Spring Data has no method, or not in each of its versions, or one
 * that asks an arbitrary node of a cluster. A client has to know the type of an answer,
 * and the node to ask.
 */
public interface RawCommands {

	/**
	 * As Spring Data sends them, over whatever client that may be. Goes to the right node
	 * only if there is but one.
	 */
	RawCommands OF_SPRING_DATA = (connection, type, command, arguments) -> connection.execute(command, arguments);

	/**
	 * Sends a command.
	 * @param connection the connection
	 * @param type the type of the answer
	 * @param command the command
	 * @param arguments its arguments, the first of which is a key, if there are any
	 * @return the answer: a {@code Long}, or a {@code String} or {@code byte[]}
	 */
	@Nullable Object send(RedisConnection connection, Type type, String command, byte[]... arguments);

	/**
	 * Adds a member to a sorted set, unless it is in it, and lets the set expire. A
	 * client that can sends both before it waits for an answer, so that it is not gone in
	 * between.
	 * @param connection the connection
	 * @param name the set
	 * @param score the member's place
	 * @param member the member
	 * @param millis the set's time to live
	 */
	default void addExpiring(RedisConnection connection, byte[] name, double score, byte[] member, long millis) {
		connection.zSetCommands().zAdd(name, score, member, ZAddArgs.ifNotExists());
		connection.keyCommands().pExpire(name, millis);
	}

	/**
	 * Sends a command whose answer is a number.
	 * @return the answer
	 */
	default long number(RedisConnection connection, String command, byte[]... arguments) {
		Object answer = send(connection, Type.NUMBER, command, arguments);
		if (answer instanceof Long number) {
			return number;
		}
		throw new InvalidDataAccessResourceUsageException(
				"the client understood the answer to " + command + " as something else than a number: " + answer);
	}

	/**
	 * Sends a command that answers OK or nothing.
	 * @return whether it was OK
	 */
	default boolean ok(RedisConnection connection, String command, byte[]... arguments) {
		return send(connection, Type.STATUS, command, arguments) != null;
	}

	/**
	 * Sends a command in a transaction, and not at all if the server refuses to begin
	 * one: outside of it nothing would keep others out.
	 * @param connection a connection that no other thread uses
	 * @return the answer to the command, none or {@code null} if the transaction was
	 * aborted
	 */
	default @Nullable List<?> inTransaction(RedisConnection connection, Type type, String command,
			byte[]... arguments) {
		connection.multi();
		try {
			send(connection, type, command, arguments);
		}
		catch (RuntimeException ex) {
			end(connection::discard, ex);
			throw ex;
		}
		return connection.exec();
	}

	/**
	 * Ends a transaction that failed.
	 * @param command how
	 * @param failure why
	 */
	static void end(Runnable command, RuntimeException failure) {
		try {
			command.run();
		}
		catch (RuntimeException ex) {
			failure.addSuppressed(ex);
		}
	}

	/**
	 * The time of the node that serves a key, in microseconds.
	 */
	default long micros(RedisConnection connection, byte[] name) {
		Long time = connection.serverCommands().time(TimeUnit.MICROSECONDS);
		return (time != null) ? time : 0;
	}

	enum Type {

		NUMBER, STATUS

	}

}
