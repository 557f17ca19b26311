package io.github.distributedlock.backend.redis.connection;

import java.time.Duration;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connections of one kind.
 *
 * @param commands for what callers wait for
 * @param renewals for renewals alone, which a flood of callers must not delay
 */
public record Lanes(Lane commands, Lane renewals) {

	private static final Logger logger = LoggerFactory.getLogger(Lanes.class);

	/**
	 * Creates them.
	 * @param commands for what callers wait for
	 * @param renewals for renewals, which use the others where the server has no
	 * connection left to give
	 */
	public Lanes {
		renewals = new Renewals(renewals, commands);
	}

	void close() {
		this.commands.close();
		this.renewals.close();
	}

	/**
	 * Connections for renewals, with others to fall back on: a server that has no
	 * connection left to give, or takes its time, must not cost a lock, for which there
	 * was one.
	 * <p>
	 * States: not open; being opened in the background, by one thread; open. Renewals use
	 * the others until it is open, and whenever it turns out to be closed and cannot be
	 * opened again. An opening that fails is tried again by the next renewal.
	 */
	private static final class Renewals implements Lane {

		private final Opening<Boolean> opening = new Opening<>(this::open, Duration.ZERO);

		private final Lane own;

		private final Lane others;

		private volatile boolean open;

		Renewals(Lane own, Lane others) {
			this.own = own;
			this.others = others;
		}

		@Override
		public <T> @Nullable T run(Function<Link, @Nullable T> step) {
			if (this.open) {
				try {
					return this.own.run(step);
				}
				catch (RuntimeException ex) {
					if (!couldNotBeSent(ex)) {
						throw ex;
					}
					logger.debug("Renewing on other connections", ex);
				}
			}
			else {
				begin();
			}
			return this.others.run(step);
		}

		private void begin() {
			try {
				this.opening.begin();
			}
			catch (OutOfMemoryError noThread) {
				logger.debug("Renewing on other connections", noThread);
			}
		}

		// Of the nodes of a cluster, one may have no connection left to give while others
		// have. A renewal that was carried out after all does no harm when it is
		// repeated. What took a command timeout must not take a second one, and what a
		// server refused once it refuses again.
		private static boolean couldNotBeSent(RuntimeException failure) {
			return failure instanceof UnsentException || !RedisFailures.isTimeout(failure)
					&& RedisRefusal.of(failure) == null && !RedisRefusal.isError(failure);
		}

		private boolean open() {
			this.own.run((link) -> null);
			this.open = true;
			return true;
		}

		@Override
		public void close() {
			this.own.close();
		}

	}

}
