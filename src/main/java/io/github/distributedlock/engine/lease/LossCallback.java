package io.github.distributedlock.engine.lease;

/**
 * What a handle does when one of its holds is lost. Does not block and does not throw.
 */
public interface LossCallback {

	/**
	 * Tells the handle that one of its holds is lost. It may be told more than once.
	 */
	void lost();

}
