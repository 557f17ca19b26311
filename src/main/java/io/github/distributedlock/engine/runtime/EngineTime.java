package io.github.distributedlock.engine.runtime;

import java.util.concurrent.Semaphore;

/**
 * Time as the engine sees it, so that tests can drive it.
 */
public interface EngineTime {

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
	 * Takes a permit of the signal, waiting for it at most so long.
	 * @return whether there was one in time
	 */
	boolean await(Semaphore signal, long nanos) throws InterruptedException;

	/**
	 * Runs a task once after a delay, on a thread that all tasks share: it does no I/O.
	 */
	Alarm schedule(Runnable task, long delayNanos);

	/**
	 * A scheduled task.
	 */
	interface Alarm {

		void cancel();

	}

}
