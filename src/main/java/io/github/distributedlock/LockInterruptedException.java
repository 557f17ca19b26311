package io.github.distributedlock;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The thread was interrupted while it waited for a lock. Its interrupt flag is set again,
 * and the lock is not held.
 *
 * @since 1.0
 */
public class LockInterruptedException extends LockException {

	/**
	 * Creates the exception for an interrupted wait.
	 * @param problem what was waited for, with the key and the time waited
	 * @param keys the keys of the request
	 * @param cause the interrupt
	 */
	public LockInterruptedException(String problem, List<String> keys, @Nullable Throwable cause) {
		super(problem, null, keys, cause);
	}

}
