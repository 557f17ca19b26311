package io.github.distributedlock.engine;

import java.util.List;
import java.util.concurrent.Semaphore;

import io.github.distributedlock.engine.lease.Hold;
import org.jspecify.annotations.Nullable;

/**
 * A request, or its part for one key, on its way: it advances until it has ended, or has
 * to wait for <i>a signal or a time</i>. Its driver does the waiting: {@link Wait#run}
 * parks the requesting thread, and a request that no thread waits for has itself called
 * again.
 * <p>
 * Confined to one thread at a time. Its driver calls {@link #end} once, after all else,
 * also if the request is given up while it waits.
 */
interface Acquisition {

	/**
	 * It has ended: with what it asked for, or without.
	 */
	long ENDED = -1;

	/**
	 * It has nothing to wait for, and continues with another key, perhaps on another node
	 * of the store.
	 */
	long NEXT_KEY = -2;

	/**
	 * Begins, or continues after a wait.
	 * @param signalled whether there was a permit of the signal that it waited for, which
	 * was taken, rather than that the time is over
	 * @return for how long to wait for a permit of {@link #signal}, in nanoseconds from
	 * 0, or {@link #ENDED}, or {@link #NEXT_KEY}
	 */
	long advance(boolean signalled) throws InterruptedException;

	/**
	 * Whether it may ask the store if it advances now. If not, it does not, whatever
	 * comes before it advances.
	 * @param signalled whether there is a permit of the signal that it waits for
	 */
	boolean mayAsk(boolean signalled);

	/**
	 * What it waits for.
	 */
	Semaphore signal();

	/**
	 * Which key it acquires, or will next.
	 */
	String key();

	/**
	 * What came of it, once it has ended: a hold for each key, guarded, or {@code null}
	 * if a key was busy for as long as the request may wait.
	 */
	@Nullable List<Hold> holds();

	/**
	 * Undoes what has not come to a good end, and leaves the queues. Does not wait.
	 */
	void end();

}
