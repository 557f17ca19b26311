package io.github.distributedlock.demo.live;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The speed at which a count grows, by the counts of the last seconds.
 */
final class Rate {

	private static final Duration WINDOW = Duration.ofSeconds(5);

	private final Deque<Count> counts = new ArrayDeque<>();

	/**
	 * Notes the count.
	 * @param at when the count was read
	 * @return how much was added in a second, 0 as long as that is not known
	 */
	double update(long count, Duration at) {
		this.counts.addLast(new Count(count, at));
		while (this.counts.size() > 2 && at.minus(this.counts.getFirst().at()).compareTo(WINDOW) > 0) {
			this.counts.removeFirst();
		}
		Count first = this.counts.getFirst();
		double seconds = at.minus(first.at()).toMillis() / 1000.0;
		return (seconds > 0) ? (count - first.count()) / seconds : 0;
	}

	private record Count(long count, Duration at) {
	}

}
