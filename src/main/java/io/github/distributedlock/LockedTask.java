package io.github.distributedlock;

/**
 * Code that runs while a lock is held, and returns nothing.
 *
 * @param <E> the type of exception that the code throws: the checked exception of the
 * code, the common type of several, or, inferred for code that throws none,
 * {@link RuntimeException}
 * @since 1.0
 * @see DistributedLock#run(LockRequest, LockedTask)
 * @see LockedCall
 */
@FunctionalInterface
public interface LockedTask<E extends Throwable> {

	/**
	 * Runs the code.
	 * @throws E if the code fails; the lock is released
	 */
	void run() throws E;

}
