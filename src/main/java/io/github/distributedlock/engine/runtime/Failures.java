package io.github.distributedlock.engine.runtime;

import java.time.Duration;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;

/**
 * What a backend throws, as exceptions of the API.
 */
public final class Failures {

	private Failures() {
	}

	/**
	 * The exception as it is, or, for a backend that throws what it should not, wrapped
	 * as one whose outcome is not known.
	 */
	public static LockBackendException asBackendException(String step, String key, RuntimeException ex) {
		return (ex instanceof LockBackendException known) ? known
				: LockBackendException
					.of("The lock store failed at '" + step + "' of lock '" + LockException.printable(key) + "': " + ex)
					.retryable(true)
					.cause(ex)
					.build();
	}

	/**
	 * The exception for a key of several that there was no time left for.
	 */
	public static LockBackendException notAsked(String key, Duration waitTime) {
		return LockBackendException
			.of("Lock '" + LockException.printable(key) + "' was not asked for, since the waitTime of "
					+ Text.of(waitTime) + " was over after the other keys of the request")
			.remedy("choose a longer waitTime")
			.retryable(true)
			.notCarriedOut(true)
			.build();
	}

	/**
	 * The exception for a request that has waited while the store failed.
	 */
	public static LockBackendException inAllThatTime(String key, Duration waited, LockBackendException last) {
		return LockBackendException
			.of("Lock '" + LockException.printable(key) + "' could not be acquired in " + Text.of(waited)
					+ ", since the store failed: " + last.problem())
			.remedy(last.remedy().orElse(null))
			.retryable(true)
			.cause(last)
			.build();
	}

	/**
	 * The exception for a request that waited for the store to answer a withdrawal.
	 */
	public static LockBackendException withdrawalNotAnswered(String key, Duration waited) {
		return LockBackendException
			.of("Lock '" + LockException.printable(key) + "' could not be asked for: the store has not confirmed in "
					+ Text.of(waited) + " that the waiter before it has withdrawn")
			.retryable(true)
			.notCarriedOut(true)
			.build();
	}

	/**
	 * The exception for a request that has waited for a thread to ask the store.
	 */
	public static LockBackendException othersNotAnswered(String key, Duration waited) {
		return LockBackendException
			.of("Lock '" + LockException.printable(key) + "' could not be asked for: in " + Text.of(waited)
					+ " the store has not answered the requests before it, as many as may ask at a time")
			.retryable(true)
			.notCarriedOut(true)
			.build();
	}

}
