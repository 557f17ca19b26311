package io.github.distributedlock;

/**
 * The mode of a lock: which holders may have the lock together.
 *
 * @since 1.0
 */
public enum LockMode {

	/**
	 * One holder alone, or as many holders as there are
	 * {@linkplain LockRequest#permits(int) permits}.
	 */
	EXCLUSIVE,

	/**
	 * Any number of shared holders, but no exclusive holder at the same time. Each shared
	 * holder has a separate lease. While an exclusive request waits, later shared
	 * requests wait, too.
	 */
	SHARED

}
