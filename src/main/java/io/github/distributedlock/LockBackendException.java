package io.github.distributedlock;

import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * The store failed, could not be reached, or refused. Says nothing about whether the lock
 * is busy.
 */
public class LockBackendException extends LockException {

	private final boolean retryable;

	private final boolean refused;

	private final String problem;

	private final @Nullable String remedy;

	/**
	 * Creates the exception for a store that failed, so that nobody knows whether it
	 * carried out what it was asked.
	 * @param message what was tried and what came back, with the key and the remedy
	 * @param retryable whether the same step may succeed a little later (a time-out, a
	 * lost connection, a server that is loading), so that a request that may wait tries
	 * again
	 * @param cause the client's exception
	 */
	public LockBackendException(String message, boolean retryable, @Nullable Throwable cause) {
		this(message, null, retryable, false, cause);
	}

	private LockBackendException(String problem, @Nullable String remedy, boolean retryable, boolean refused,
			@Nullable Throwable cause) {
		super((remedy != null) ? problem + " (" + remedy + ")" : problem, cause);
		this.problem = problem;
		this.remedy = remedy;
		this.retryable = retryable;
		this.refused = refused;
	}

	/**
	 * The store has certainly not carried out what it was asked: it said so, or it could
	 * not even be asked.
	 * @param message what was tried and what came back, with the key and the remedy
	 * @param retryable whether the same step may succeed a little later
	 * @param cause the client's exception
	 * @return the exception to throw
	 */
	public static LockBackendException refused(String message, boolean retryable, @Nullable Throwable cause) {
		return new LockBackendException(message, null, retryable, true, cause);
	}

	/**
	 * The store has certainly not carried out what it was asked, and it is known what to
	 * do about it.
	 * @param problem what was tried and what came back, with the key
	 * @param remedy what to do about it
	 * @param retryable whether the same step may succeed a little later
	 * @param cause the client's exception
	 * @return the exception to throw; its message is the problem, and the remedy in
	 * parentheses
	 */
	public static LockBackendException refused(String problem, String remedy, boolean retryable,
			@Nullable Throwable cause) {
		return new LockBackendException(problem, remedy, retryable, true, cause);
	}

	/**
	 * Whether the same step may succeed a little later.
	 * @return {@code false} for a refusal that stays, such as a denied command
	 */
	public boolean isRetryable() {
		return this.retryable;
	}

	/**
	 * Whether nothing was carried out, so that nothing has to be undone.
	 * @return {@code false} if that is not known
	 */
	public boolean isRefused() {
		return this.refused;
	}

	/**
	 * What was tried and what came back.
	 * @return the message without the {@linkplain #remedy() remedy}, if that is apart
	 */
	public String problem() {
		return this.problem;
	}

	/**
	 * What to do about it.
	 * @return the remedy, empty if it is only part of the message, or not known
	 */
	public Optional<String> remedy() {
		return Optional.ofNullable(this.remedy);
	}

}
