package io.github.distributedlock.engine.runtime;

/**
 * Where the engine runs what no caller waits for. Its own work, what it tells of a loss,
 * and the code of the application have threads of their own, so that none delays another:
 * a slow clean-up no renewal, a slow action no interrupt.
 */
public interface Workers {

	/**
	 * Runs the renewals of one node's leases.
	 */
	void renewal(Runnable task);

	/**
	 * Runs other commands: clean-ups, withdrawals, releases.
	 */
	void background(Runnable task);

	/**
	 * Runs steps of requests that no thread waits for, and their commands.
	 */
	void request(Runnable task);

	/**
	 * Tells one executor of a loss. None waits for another.
	 */
	void reaction(Runnable task);

	/**
	 * Runs what one listener is told. None waits for another.
	 */
	void listener(Runnable task);

	/**
	 * Runs other code of the application, as the application says: by default none waits
	 * for another.
	 */
	void callback(Runnable task);

}
