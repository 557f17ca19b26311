package io.github.distributedlock.engine;

import java.util.concurrent.Semaphore;

/**
 * Time and threads as the engine sees them, so that tests can drive them.
 */
interface EngineTime {

	/**
	 * The monotonic clock, as {@link System#nanoTime()}.
	 */
	long nanoTime();

	/**
	 * The wall clock in nanoseconds. Unlike the monotonic one it goes on while the
	 * machine is suspended.
	 */
	long wallNanos();

	/**
	 * Waits for a signal, which this consumes, at most so long.
	 * @return whether there was one in time
	 */
	boolean await(Semaphore signal, long nanos) throws InterruptedException;

	/**
	 * Runs a task once after a delay, on a thread that all tasks share: it does no I/O.
	 * @return cancels it
	 */
	Runnable schedule(Runnable task, long delayNanos);

	/**
	 * Where the engine runs what no caller waits for. Its own work and the code of the
	 * application have threads of their own, so that none delays another: a slow clean-up
	 * no renewal, a slow action no interrupt.
	 */
	interface Workers {

		/**
		 * Sees to it that a thread for renewals lives for the next seconds. To be called
		 * before a lock is handed out, and once a second while one is held.
		 * @throws OutOfMemoryError if there is none, and none can be had
		 */
		void prepareRenewals();

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
		 * Calls one listener, or one executor that is to hear of a loss. None waits for
		 * another.
		 */
		void listener(Runnable task);

		/**
		 * Interrupts a thread, which may run code of the application: on a thread like
		 * that of a listener, or on the calling one if no other can be had.
		 */
		void interrupt(Runnable task);

		/**
		 * Runs what cannot wait, where the application's callbacks run: loss actions, and
		 * what depends on the end of a stop. None waits for another.
		 */
		void action(Runnable task);

		/**
		 * Completes futures, and runs what depends on them. None waits for another that
		 * blocks, but for a moment.
		 * @throws OutOfMemoryError if no thread can be had, and the engine has none that
		 * would try again
		 */
		void callback(Runnable task);

	}

}
