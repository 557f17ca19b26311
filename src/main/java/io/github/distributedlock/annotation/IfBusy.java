package io.github.distributedlock.annotation;

/**
 * The behaviour of a call whose lock is busy.
 *
 * @since 1.0
 */
public enum IfBusy {

	/**
	 * Waits as long as {@link DistributedLock#waitTime()} says, then throws
	 * {@link io.github.distributedlock.LockNotAcquiredException}, or calls the
	 * {@link DistributedLock#fallback()}.
	 */
	THROW,

	/**
	 * Does not run the method and returns nothing: {@code null}, an empty
	 * {@code Optional}, collection, map or array, a future that is completed with
	 * {@code null}, or a reactive result without a value. The call does not wait unless
	 * {@link DistributedLock#waitTime()} is set. A store that fails is not busy: its
	 * exception is thrown.
	 */
	SKIP

}
