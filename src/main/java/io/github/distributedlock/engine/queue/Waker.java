package io.github.distributedlock.engine.queue;

import java.time.Duration;

/**
 * A request, as the queues see it.
 */
public interface Waker {

	/**
	 * There may be a permit of the signal that the request waits for. Called inside a
	 * step of a queue, by any thread: it neither enters a queue nor waits, and throws
	 * nothing. A thread that waits for the signal notices by itself.
	 */
	void wake();

	/**
	 * For how long the request has waited, for all its keys. Called by any thread.
	 */
	Duration waited();

}
