package io.github.distributedlock.backend.redis.connection;

import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * Connections of one purpose, so that no other purpose's traffic delays it. Opened at
 * first use.
 */
public interface Lane {

	/**
	 * Runs a step, once.
	 * @param step what is to be done by a link, which is lent for as long as it lasts
	 * @param <T> the type of its answer
	 * @return its answer
	 */
	<T> @Nullable T run(Function<Link, @Nullable T> step);

	void close();

	/**
	 * Does something in a thread that may be interrupted already. It could not wait for a
	 * connection or a reply, and so not release its lock, and a virtual thread would lose
	 * the connection that it uses. So it is interrupted again only afterwards.
	 */
	static <T extends @Nullable Object> T withoutInterrupt(Supplier<T> action) {
		boolean interrupted = Thread.interrupted();
		try {
			return action.get();
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	static void requireOpen(boolean closed) {
		if (closed) {
			throw new IllegalStateException("the lock backend is closed");
		}
	}

}
