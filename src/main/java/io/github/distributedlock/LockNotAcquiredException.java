package io.github.distributedlock;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * A lock was busy for the whole wait time of the request. The store works; another owner
 * has the lock.
 *
 * @since 1.0
 */
public class LockNotAcquiredException extends LockException {

	private final Duration waited;

	private final @Nullable String holder;

	/**
	 * Creates the exception for a busy lock.
	 * @param problem what happened, with the key and the time waited
	 * @param keys the keys of the request
	 * @param waited how long the request waited
	 * @param holder the owner token of the holder where it is known
	 */
	public LockNotAcquiredException(String problem, List<String> keys, Duration waited, @Nullable String holder) {
		super(problem, null, keys, null);
		this.waited = waited;
		this.holder = holder;
	}

	/**
	 * Returns how long the request waited.
	 * @return the time waited
	 */
	public Duration waited() {
		return this.waited;
	}

	/**
	 * Returns the owner token of the holder, {@code app@host/pid#random:n}.
	 * @return the owner token, or empty if not known
	 */
	public Optional<String> holder() {
		return Optional.ofNullable(this.holder);
	}

}
