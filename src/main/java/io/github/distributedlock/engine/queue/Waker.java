package io.github.distributedlock.engine.queue;

/**
 * A request that no thread waits for, as the queues see it.
 */
public interface Waker {

	/**
	 * There may be a permit of the signal that the request waits for. Called inside a
	 * step of a queue, by any thread: it neither enters a queue nor waits, and throws
	 * nothing.
	 */
	void wake();

}
