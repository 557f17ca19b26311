package io.github.distributedlock.engine;

/**
 * Where the engine runs what no caller waits for. Four kinds, so that neither a slow
 * clean-up nor a slow callback delays a renewal, and no slow listener delays what a
 * holder wants done when its lock is lost.
 */
interface Workers {

	/**
	 * Runs the renewals of one node's leases.
	 */
	void renewal(Runnable task);

	/**
	 * Runs other commands: clean-ups, withdrawals, releases that are retried.
	 */
	void background(Runnable task);

	/**
	 * Runs the loss actions of one handle.
	 */
	void lossActions(Runnable task);

	/**
	 * Tells the listeners, one event after the other.
	 */
	void callback(Runnable task);

}
