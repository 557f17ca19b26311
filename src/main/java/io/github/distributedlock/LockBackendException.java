package io.github.distributedlock;

import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * The store failed, could not be reached, or refused a step. This exception does not say
 * whether the lock is busy.
 *
 * @since 1.0
 */
public final class LockBackendException extends LockException {

	private final boolean retryable;

	private final boolean withoutEffect;

	private final boolean stopped;

	private LockBackendException(Builder builder) {
		super(builder.problem, builder.remedy, List.of(), builder.cause);
		this.retryable = builder.retryable;
		this.withoutEffect = builder.withoutEffect;
		this.stopped = builder.stopped;
	}

	/**
	 * Returns a builder of an exception. By default, the same step will fail again, and
	 * whether the store has carried out the step is not known.
	 * @param problem what was tried and what came back, with the key
	 * @return the builder
	 */
	public static Builder of(String problem) {
		return new Builder(problem);
	}

	/**
	 * Returns whether the same step may succeed a little later.
	 * @return {@code false} for a refusal that stays, such as a denied command
	 */
	public boolean isRetryable() {
		return this.retryable;
	}

	/**
	 * Returns whether the step was certainly without effect, so that nothing has to be
	 * undone.
	 * @return {@code false} if the store may have carried out the step
	 */
	public boolean isWithoutEffect() {
		return this.withoutEffect;
	}

	/**
	 * Returns whether the store was not asked, or no longer asked, because this instance
	 * is stopped, as when the application shuts down.
	 * @return {@code true} if this instance is stopped
	 */
	public boolean isStopped() {
		return this.stopped;
	}

	/**
	 * A builder of an exception. A builder is not safe for use by many threads.
	 */
	public static final class Builder {

		private final String problem;

		private @Nullable String remedy;

		private boolean retryable;

		private boolean withoutEffect;

		private boolean stopped;

		private @Nullable Throwable cause;

		private Builder(String problem) {
			this.problem = Objects.requireNonNull(problem, "problem");
		}

		/**
		 * Sets the remedy.
		 * @param remedy what to do about the problem, {@code null} if not known
		 * @return this builder
		 */
		public Builder remedy(@Nullable String remedy) {
			this.remedy = remedy;
			return this;
		}

		/**
		 * Sets whether the same step may succeed a little later (a time-out, a lost
		 * connection, a server that is loading), so that a request that may wait tries
		 * again.
		 * @param retryable {@code true} if the step may succeed; not by default
		 * @return this builder
		 */
		public Builder retryable(boolean retryable) {
			this.retryable = retryable;
			return this;
		}

		/**
		 * Sets whether the step was certainly without effect: the store said so, or could
		 * not even be asked.
		 * @param withoutEffect {@code true} if this is certain; not by default
		 * @return this builder
		 */
		public Builder withoutEffect(boolean withoutEffect) {
			this.withoutEffect = withoutEffect;
			return this;
		}

		/**
		 * Sets whether this instance is stopped.
		 * @param stopped {@code true} if this instance is stopped; not by default
		 * @return this builder
		 */
		public Builder stopped(boolean stopped) {
			this.stopped = stopped;
			return this;
		}

		/**
		 * Sets the cause.
		 * @param cause the exception of the store's client
		 * @return this builder
		 */
		public Builder cause(@Nullable Throwable cause) {
			this.cause = cause;
			return this;
		}

		/**
		 * Creates the exception.
		 * @return the exception to throw
		 */
		public LockBackendException build() {
			return new LockBackendException(this);
		}

	}

}
