package io.github.distributedlock.annotation;

/**
 * What a call does when the lock is busy.
 *
 * @since 1.0
 */
public enum IfBusy {

	/**
	 * Wait as long as {@link DistributedLock#waitTime()} says, then throw
	 * {@link io.github.distributedlock.LockNotAcquiredException}, or call the
	 * {@link DistributedLock#fallback()}.
	 */
	THROW,

	/**
	 * Do not run the method and return nothing: {@code null}, an empty {@code Optional},
	 * collection, map or array, a future that is completed with {@code null}, or a
	 * reactive result without a value. Does not wait unless
	 * {@link DistributedLock#waitTime()} is set. A store that fails is not busy: its
	 * exception is thrown.
	 */
	SKIP

}
