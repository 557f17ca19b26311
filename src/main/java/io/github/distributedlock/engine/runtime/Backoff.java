package io.github.distributedlock.engine.runtime;

import java.util.concurrent.TimeUnit;

/**
 * Pauses that double, from a shortest to a longest one. Confined to one thread at a time.
 */
public final class Backoff {

	private final long shortest;

	private final long longest;

	private long next;

	/**
	 * Creates one that begins with the shortest pause.
	 * @param shortest the first pause in nanoseconds
	 * @param longest the last pause in nanoseconds
	 */
	public Backoff(long shortest, long longest) {
		this.shortest = shortest;
		this.longest = longest;
		this.next = shortest;
	}

	/**
	 * Creates the one of requests whose command failed: 25 to 500 ms.
	 */
	public static Backoff ofRequests() {
		return new Backoff(TimeUnit.MILLISECONDS.toNanos(25), TimeUnit.MILLISECONDS.toNanos(500));
	}

	/**
	 * The next pause in nanoseconds.
	 */
	public long next() {
		long pause = this.next;
		this.next = Math.min(2 * pause, this.longest);
		return pause;
	}

	/**
	 * Begins with the shortest pause again.
	 */
	public void reset() {
		this.next = this.shortest;
	}

}
