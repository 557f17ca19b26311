package io.github.distributedlock.backend.redis.internal;

import java.time.Duration;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of one kind.
 *
 * @param commands the lane for steps that callers wait for
 * @param renewals the lane for renewals alone, which a flood of callers must not delay
 */
public record Lanes(Lane commands, Lane renewals) {

	private static final Logger logger = LoggerFactory.getLogger(Lanes.class);

	/**
	 * Creates the lanes.
	 * @param commands the lane for steps that callers wait for
	 * @param renewals the lane for renewals, which fall back to the other lane if the
	 * server has no connection left to give
	 */
	public Lanes {
		renewals = new Renewals(renewals, commands);
	}

	void close() {
		this.commands.close();
		this.renewals.close();
	}

	/**
	 * A lane for renewals that falls back to another lane. A lock was acquired by a
	 * connection, so a server that has no further connection to give, or gives one late,
	 * must not cost the lock.
	 * <p>
	 * States: not open; being opened in the background, by one thread; open. Renewals use
	 * the other lane until this lane is open, and whenever this lane turns out to be
	 * closed and cannot be opened again. After an opening that failed, the next renewal
	 * tries again.
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

		// One node of a cluster may have no connection left to give while other nodes
		// have. Repeating a renewal that was carried out after all does no harm. But a
		// renewal that took a command timeout must not take a second one, and a server
		// that refused once refuses again.
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
