package io.github.distributedlock.protocol;

/**
 * A state of a small model, as an observer judges it.
 */
interface Situation {

	/**
	 * Whether nobody believes to hold the lock beside somebody who must not, or without
	 * owning the key.
	 */
	boolean isSafe();

	/**
	 * Whether nobody has got ahead of whom it must not, or too often.
	 */
	boolean isInOrder();

	/**
	 * Whether somebody waits though nobody holds the lock for whom it has to.
	 */
	boolean hasIdleWaiter();

}
