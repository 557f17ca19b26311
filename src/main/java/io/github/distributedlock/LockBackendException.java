package io.github.distributedlock;

import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * The store failed, could not be reached, or refused. Says nothing about whether the lock
 * is busy.
 *
 * @since 1.0
 */
public final class LockBackendException extends LockException {

	private final boolean retryable;

	private final boolean notCarriedOut;

	private final boolean stopped;

	private LockBackendException(Builder builder) {
		super(builder.problem, builder.remedy, List.of(), builder.cause);
		this.retryable = builder.retryable;
		this.notCarriedOut = builder.notCarriedOut;
		this.stopped = builder.stopped;
	}

	/**
	 * Begins an exception. If nothing else is said, the same step will fail again, and it
	 * is not known whether it was carried out.
	 * @param problem what was tried and what came back, with the key
	 * @return what makes the exception
	 */
	public static Builder of(String problem) {
		return new Builder(problem);
	}

	/**
	 * Whether the same step may succeed a little later.
	 * @return {@code false} for a refusal that stays, such as a denied command
	 */
	public boolean isRetryable() {
		return this.retryable;
	}

	/**
	 * Whether the outcome of the step is known: the store has certainly not carried it
	 * out, so that nothing has to be undone.
	 * @return {@code false} if it may have been carried out
	 */
	public boolean isNotCarriedOut() {
		return this.notCarriedOut;
	}

	/**
	 * Whether the store was not asked, or not any more, since this instance is stopped,
	 * as when its application shuts down.
	 * @return whether it is
	 */
	public boolean isStopped() {
		return this.stopped;
	}

	/**
	 * Makes an exception. Not safe for use by many threads.
	 */
	public static final class Builder {

		private final String problem;

		private @Nullable String remedy;

		private boolean retryable;

		private boolean notCarriedOut;

		private boolean stopped;

		private @Nullable Throwable cause;

		private Builder(String problem) {
			this.problem = Objects.requireNonNull(problem, "problem");
		}

		/**
		 * Says what to do about it.
		 * @param remedy what to do, {@code null} if it is not known
		 * @return this builder
		 */
		public Builder remedy(@Nullable String remedy) {
			this.remedy = remedy;
			return this;
		}

		/**
		 * Says whether the same step may succeed a little later (a time-out, a lost
		 * connection, a server that is loading), so that a request that may wait tries
		 * again; not by default.
		 * @param retryable whether it may
		 * @return this builder
		 */
		public Builder retryable(boolean retryable) {
			this.retryable = retryable;
			return this;
		}

		/**
		 * Says whether the store has certainly not carried out what it was asked: it said
		 * so, or it could not even be asked. Not known by default.
		 * @param notCarriedOut whether that is certain
		 * @return this builder
		 */
		public Builder notCarriedOut(boolean notCarriedOut) {
			this.notCarriedOut = notCarriedOut;
			return this;
		}

		/**
		 * Says whether this instance is stopped; not by default.
		 * @param stopped whether it is
		 * @return this builder
		 */
		public Builder stopped(boolean stopped) {
			this.stopped = stopped;
			return this;
		}

		/**
		 * Says what led to it.
		 * @param cause the client's exception
		 * @return this builder
		 */
		public Builder cause(@Nullable Throwable cause) {
			this.cause = cause;
			return this;
		}

		/**
		 * Makes the exception.
		 * @return the exception to throw
		 */
		public LockBackendException build() {
			return new LockBackendException(this);
		}

	}

}
