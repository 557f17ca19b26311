package io.github.distributedlock.backend.redis.internal;

import java.util.function.Function;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The connections for one purpose, so that the traffic for another purpose causes no
 * delay. Connections are opened at first use.
 */
public interface Lane {

	/**
	 * Runs a step, once.
	 * @param step the step, which borrows a link until the step ends
	 * @param <T> the type of the answer
	 * @return the answer of the step
	 */
	<T> @Nullable T run(Function<Link, @Nullable T> step);

	void close();

	/**
	 * Runs an action without the interrupt that the thread may have, and restores the
	 * interrupt afterwards. An interrupted thread could not wait for a connection or a
	 * reply, and so could not release its lock. An interrupted virtual thread would lose
	 * the connection in use.
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
