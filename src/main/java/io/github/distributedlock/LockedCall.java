package io.github.distributedlock;

import org.jspecify.annotations.Nullable;

/**
 * Code that a {@link DistributedLock} calls, mostly while a lock is held, and that
 * returns a value.
 *
 * @param <T> the type of the value
 * @param <E> what it throws: the checked exception of the code, the common type of
 * several, or, inferred for code that throws none, {@link RuntimeException}
 * @since 1.0
 * @see DistributedLock#execute(LockRequest, LockedCall)
 * @see LockedTask
 */
@FunctionalInterface
public interface LockedCall<T extends @Nullable Object, E extends Throwable> {

	/**
	 * Runs the code.
	 * @return its value
	 * @throws E if it fails; the lock is released
	 */
	T call() throws E;

}
