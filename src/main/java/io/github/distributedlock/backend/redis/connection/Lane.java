package io.github.distributedlock.backend.redis.connection;

import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;

/**
 * Connections of one purpose, so that no other purpose's traffic delays it. Opened at
 * first use.
 */
public interface Lane {

	/**
	 * Runs a command, once.
	 * @param command the command
	 * @param <T> the type of its answer
	 * @return its answer
	 */
	<T> @Nullable T run(Command<T> command);

	void close();

	/**
	 * What is to be done with a connection.
	 *
	 * @param <T> the type of its answer
	 */
	interface Command<T> {

		@Nullable T on(RedisConnection connection);

	}

}
