package io.github.distributedlock;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A thread was interrupted while waiting for a lock. The interrupt flag of the thread is
 * set again, and the request did not get the lock.
 *
 * @since 1.0
 */
public class LockInterruptedException extends LockException {

	/**
	 * Creates the exception for an interrupted wait.
	 * @param problem what the thread waited for, with the key and the time waited
	 * @param keys the keys of the request
	 * @param cause the interrupt
	 */
	public LockInterruptedException(String problem, List<String> keys, @Nullable Throwable cause) {
		super(problem, null, keys, cause);
	}

}
