package io.github.distributedlock;

import org.jspecify.annotations.Nullable;

/**
 * The store failed, could not be reached, or refused. Says nothing about whether the lock
 * is busy.
 */
public class LockBackendException extends LockException {

	private final boolean retryable;

	/**
	 * Creates the exception for a store that failed or refused.
	 * @param message what was tried and what came back, with the key and the remedy
	 * @param retryable whether the same step may succeed a little later (a time-out, a
	 * lost connection, a server that is loading), so that a request that may wait tries
	 * again
	 * @param cause the client's exception
	 */
	public LockBackendException(String message, boolean retryable, @Nullable Throwable cause) {
		super(message, cause);
		this.retryable = retryable;
	}

	/**
	 * Whether the same step may succeed a little later.
	 * @return {@code false} for a refusal that stays, such as a denied command
	 */
	public boolean isRetryable() {
		return this.retryable;
	}

}
