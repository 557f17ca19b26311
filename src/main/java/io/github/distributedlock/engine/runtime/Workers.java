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
	 * Runs what one is told of whom the engine cannot let wait: loss actions, and what
	 * depends on the end of a stop. None waits for another.
	 */
	void action(Runnable task);

	/**
	 * Completes futures, and runs what depends on them. None waits for another that
	 * blocks, but for a moment.
	 */
	void callback(Runnable task);

}
