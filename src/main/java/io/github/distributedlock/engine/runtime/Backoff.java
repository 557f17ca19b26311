package io.github.distributedlock.engine.runtime;

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
