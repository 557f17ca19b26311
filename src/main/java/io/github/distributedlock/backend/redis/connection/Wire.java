package io.github.distributedlock.backend.redis.connection;

import io.github.distributedlock.backend.redis.wire.Command;
import org.jspecify.annotations.Nullable;

/**
 * A connection, opened when it is needed, on which the commands of many threads are sent
 * by one at a time.
 */
interface Wire {

	/**
	 * Sees to it that there is a connection.
	 * @param deadline until when, by {@link System#nanoTime()}
	 * @throws io.github.distributedlock.backend.redis.wire.UnsentException if there is
	 * none
	 */
	void open(long deadline);

	/**
	 * Sends a command, or keeps it until the next reply is asked for.
	 */
	void send(Command command);

	/**
	 * Waits for the next reply.
	 * @param deadline until when, by {@link System#nanoTime()}
	 * @return the reply; an error as a {@code RuntimeException}
	 * @throws RuntimeException if there is none, after which the connection is of no use
	 */
	@Nullable Object receive(long deadline);

	/**
	 * To be called when all replies have been read.
	 * @return whether the connection is of further use
	 */
	boolean answered();

	/**
	 * Ends a connection on which replies may still come.
	 */
	void abandon();

	/**
	 * Ends a connection that is of no further use, if there is one.
	 */
	void tidy();

}
