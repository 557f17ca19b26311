package io.github.distributedlock.engine;

/**
 * Where the engine runs what no caller waits for. Three kinds, so that neither a slow
 * clean-up nor a slow callback delays a renewal.
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
	 * Runs the users' code, one after the other.
	 */
	void callback(Runnable task);

}
