package io.github.distributedlock;

/**
 * Which holders may have a lock together.
 *
 * @since 1.0
 */
public enum LockMode {

	/**
	 * One holder, alone; or as many as there are {@linkplain LockRequest#permits(int)
	 * permits}.
	 */
	EXCLUSIVE,

	/**
	 * Any number of shared holders, but no exclusive one beside them. Each has a lease of
	 * its own. While an exclusive request waits, those that come after it wait, too.
	 */
	SHARED

}
