package io.github.distributedlock.engine;

import java.util.concurrent.Semaphore;

/**
 * Time and threads as the engine sees them, so that tests can drive them.
 */
interface EngineTime {

	/**
	 * Returns the monotonic clock in nanoseconds, as {@link System#nanoTime()}.
	 */
	long nanoTime();

	/**
	 * Returns the wall clock in nanoseconds. Unlike the monotonic clock, the wall clock
	 * goes on while the machine is suspended.
	 */
	long wallNanos();

	/**
	 * Waits for a signal, at most so long, and consumes the signal.
	 * @return whether there was a signal in time
	 */
	boolean await(Semaphore signal, long nanos) throws InterruptedException;

	/**
	 * Runs a task once after a delay, on a thread that all tasks share, so the task must
	 * do no I/O.
	 * @return a task that cancels the scheduled task
	 */
	Runnable schedule(Runnable task, long delayNanos);

	/**
	 * Runs the tasks that no caller waits for. The engine's own work and the code of the
	 * application have threads of their own, so that neither delays the other: a slow
	 * clean-up delays no renewal, a slow action no interrupt.
	 */
	interface Workers {

		/**
		 * Ensures that a thread for renewals lives for the next seconds. To be called
		 * before a lock is handed out, and once a second while a lock is held.
		 * @throws OutOfMemoryError if there is no such thread, and none can be had
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
		 * Runs steps of requests that no thread waits for, and the commands of these
		 * steps.
		 */
		void request(Runnable task);

		/**
		 * Calls one listener, or one executor that is to hear of a loss. No call waits
		 * for another.
		 */
		void listener(Runnable task);

		/**
		 * Interrupts a thread, which may run code of the application: on a thread like
		 * that of a listener, or on the calling thread if no other can be had.
		 */
		void interrupt(Runnable task);

		/**
		 * Runs tasks that cannot wait, where the application's callbacks run: loss
		 * actions, and what depends on the end of a stop. No task waits for another.
		 */
		void action(Runnable task);

		/**
		 * Completes futures, and runs what depends on them. No task waits for another
		 * that blocks, but for a moment.
		 * @throws OutOfMemoryError if no thread can be had, and the engine has no thread
		 * that would try again
		 */
		void callback(Runnable task);

	}

}
