package io.github.distributedlock;

/**
 * Who may hold a lock together.
 */
public enum LockMode {

	/**
	 * One holder, alone.
	 */
	EXCLUSIVE,

	/**
	 * Any number of shared holders, but no exclusive one beside them.
	 */
	SHARED

}
