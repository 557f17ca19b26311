package io.github.distributedlock.protocol;

/**
 * A state of a small model, as an observer judges it.
 */
interface Situation {

	/**
	 * Returns whether nobody believes to hold the lock beside somebody who must not, or
	 * without owning the key.
	 */
	boolean isSafe();

	/**
	 * Returns whether nobody has overtaken others against the rules, or too often.
	 */
	boolean isInOrder();

	/**
	 * Returns whether somebody waits though no holder of the lock is in the way.
	 */
	boolean hasIdleWaiter();

}
