package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.distributedlock.DistributedLock;

/**
 * Measures by how much acquires take longer than they are to wait, and sees where the
 * longest of them is meanwhile.
 */
final class Overruns {

	private static final String LIBRARY = DistributedLock.class.getPackageName();

	private static final String OURS = Overruns.class.getPackageName();

	private final Map<Thread, Acquire> current = new ConcurrentHashMap<>();

	private volatile boolean counting;

	private Duration longest = Duration.ZERO;

	private String seen = "";

	/**
	 * Counts from now on. What comes before opens connections and loads classes.
	 */
	void count() {
		this.counting = true;
	}

	/**
	 * Acquires.
	 * @param waitTime how long it is to take at most
	 * @param action which acquires
	 */
	<T> T in(Duration waitTime, Supplier<T> action) {
		Acquire acquire = new Acquire(System.nanoTime() + waitTime.toNanos());
		this.current.put(Thread.currentThread(), acquire);
		try {
			return action.get();
		}
		finally {
			this.current.remove(Thread.currentThread());
			ended(acquire, "waitTime " + waitTime.toMillis() + " ms, seen at ");
		}
	}

	private synchronized void ended(Acquire acquire, String description) {
		Duration over = Duration.ofNanos(System.nanoTime() - acquire.end);
		if (this.counting && over.compareTo(this.longest) > 0) {
			this.longest = over;
			this.seen = description + acquire.places;
		}
	}

	/**
	 * Looks where those are that are over their time.
	 */
	void look() {
		this.current.forEach((thread, acquire) -> {
			if (System.nanoTime() - acquire.end > 0) {
				Stream.of(thread.getStackTrace())
					.filter((frame) -> frame.getClassName().startsWith(LIBRARY)
							&& !frame.getClassName().startsWith(OURS))
					.findFirst()
					.ifPresent(acquire::seenAt);
			}
		});
	}

	synchronized Duration longest() {
		return this.longest;
	}

	/**
	 * Returns where the longest was seen, and how often.
	 */
	synchronized String seen() {
		return this.seen;
	}

	private static final class Acquire {

		private final long end;

		private final Map<String, Integer> places = new ConcurrentHashMap<>();

		private Acquire(long end) {
			this.end = end;
		}

		private void seenAt(StackTraceElement frame) {
			this.places.merge(frame.getFileName() + ":" + frame.getLineNumber(), 1, Integer::sum);
		}

	}

}
