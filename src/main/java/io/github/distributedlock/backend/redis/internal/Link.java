package io.github.distributedlock.backend.redis.internal;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.InvalidDataAccessResourceUsageException;

/**
 * Sends commands and waits for the replies, no longer than a command timeout. Many
 * threads may share a link, unless the link was lent for a step of several commands that
 * need a connection of their own.
 * <p>
 * A reply is a {@code Long}, a {@code byte[]}, a {@code List} of replies, a
 * {@code Double} in version 3 of the protocol, or {@code null}; a status is
 * {@code byte[]} or text. An error reply, and any failure of the client, is thrown: an
 * {@linkplain UnsentException unsent} command was certainly not carried out, and a
 * command without a reply may have been. No command is sent twice, unless a node of a
 * cluster redirects the command.
 */
public interface Link {

	/**
	 * Sends a command.
	 * @param command the command
	 * @return the reply
	 * @throws org.springframework.dao.DataAccessException if no reply comes, or the reply
	 * is an error
	 */
	default @Nullable Object call(Command command) {
		Object reply = exchange(command);
		if (reply instanceof RuntimeException error) {
			throw error;
		}
		return reply;
	}

	/**
	 * Sends a command, as {@link #call} does.
	 * @param command the command
	 * @return the reply, or a {@code RuntimeException} if the reply is an error
	 * @throws org.springframework.dao.DataAccessException if no reply comes
	 */
	@Nullable Object exchange(Command command);

	/**
	 * Sends a command whose reply is a number.
	 * @return the reply
	 */
	default long number(Command command) {
		Object reply = call(command);
		return (reply instanceof Long number) ? number : unexpected(command, reply);
	}

	/**
	 * Sends a command whose reply is a status or nothing.
	 * @return whether the reply is a status
	 */
	default boolean ok(Command command) {
		return call(command) != null;
	}

	/**
	 * Sends a command whose reply is a value.
	 * @return the value, {@code null} if there is none
	 */
	default byte @Nullable [] bytes(Command command) {
		Object reply = call(command);
		return (reply == null || reply instanceof byte[]) ? (byte[]) reply : unexpected(command, reply);
	}

	/**
	 * Sends a command whose reply is a list.
	 * @return the replies in the list
	 */
	default List<?> list(Command command) {
		Object reply = call(command);
		return (reply instanceof List<?> list) ? list : unexpected(command, reply);
	}

	private static <T> T unexpected(Command command, @Nullable Object reply) {
		throw new InvalidDataAccessResourceUsageException(
				"the client understood the reply to " + command.verb() + " as something else than it is: " + reply);
	}

}
