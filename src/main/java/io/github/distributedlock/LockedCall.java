package io.github.distributedlock;

import org.jspecify.annotations.Nullable;

/**
 * Code that returns a value. A {@link DistributedLock} calls the code, in most methods
 * while a lock is held.
 *
 * @param <T> the type of the value
 * @param <E> the type of exception that the code throws: the checked exception of the
 * code, the common type of several, or, inferred for code that throws none,
 * {@link RuntimeException}
 * @since 1.0
 * @see DistributedLock#execute(LockRequest, LockedCall)
 * @see LockedTask
 */
@FunctionalInterface
public interface LockedCall<T extends @Nullable Object, E extends Throwable> {

	/**
	 * Runs the code.
	 * @return the value of the code
	 * @throws E if the code fails; the lock is released
	 */
	T call() throws E;

}
