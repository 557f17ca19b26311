package io.github.distributedlock.backend.redis.connection;

import io.github.distributedlock.backend.redis.wire.Link;
import org.jspecify.annotations.Nullable;

/**
 * Connections of one purpose, so that no other purpose's traffic delays it. Opened at
 * first use.
 */
public interface Lane {

	/**
	 * Runs a step, once.
	 * @param step the step
	 * @param <T> the type of its answer
	 * @return its answer
	 */
	<T> @Nullable T run(Step<T> step);

	void close();

	/**
	 * What is to be done by a link, which is lent for as long as it lasts.
	 *
	 * @param <T> the type of its answer
	 */
	interface Step<T> {

		@Nullable T on(Link link);

	}

}
