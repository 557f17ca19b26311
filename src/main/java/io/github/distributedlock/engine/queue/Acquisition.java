package io.github.distributedlock.engine.queue;

import java.util.concurrent.Semaphore;

/**
 * A request, or its part for one key, on its way: it goes on until it has ended, or has
 * to wait for <i>a signal or a time</i>. Its driver does the waiting: {@link Wait#run}
 * parks the requesting thread, and a request that no thread waits for has itself called
 * again.
 * <p>
 * Confined to one thread at a time. Its driver calls {@link #end} once, after all else,
 * also if the request is given up while it waits.
 */
public interface Acquisition {

	/**
	 * It has ended: with what it asked for, or without.
	 */
	long ENDED = -1;

	/**
	 * It has nothing to wait for, and goes on with another key, perhaps on another node
	 * of the store.
	 */
	long NEXT_KEY = -2;

	/**
	 * Begins, or goes on after a wait.
	 * @param signalled whether there was a permit of the signal that it waited for, which
	 * was taken, rather than that the time is over
	 * @return for how long to wait for a permit of {@link #signal}, in nanoseconds from
	 * 0, or {@link #ENDED}, or {@link #NEXT_KEY}
	 */
	long goOn(boolean signalled) throws InterruptedException;

	/**
	 * Whether it may ask the store if it goes on now. If not, it does not, whatever comes
	 * before it goes on.
	 * @param signalled whether there is a permit of the signal that it waits for
	 */
	boolean mayAsk(boolean signalled);

	/**
	 * What it waits for.
	 */
	Semaphore signal();

	/**
	 * Undoes what has not come to a good end, and leaves the queues. Does not wait.
	 */
	void end();

}
