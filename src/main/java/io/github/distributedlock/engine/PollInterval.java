package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.Objects;

/**
 * How often who waits asks the store of its own accord while no wake-ups arrive: first
 * after about the least, then less and less often, at last after about the greatest.
 *
 * @param min the least, from 1 millisecond
 * @param max the greatest, to 1 minute
 */
record PollInterval(Duration min, Duration max) {

	private static final Duration SHORTEST = Duration.ofMillis(1);

	private static final Duration LONGEST = Duration.ofMinutes(1);

	static final PollInterval DEFAULT = new PollInterval(Duration.ofMillis(50), Duration.ofMillis(500));

	PollInterval {
		requireInRange(Objects.requireNonNull(min, "min"));
		requireInRange(Objects.requireNonNull(max, "max"));
		if (max.compareTo(min) < 0) {
			throw new IllegalArgumentException("The longest poll interval, " + max
					+ ", is shorter than the shortest, which is " + min + ": make it at least as long");
		}
	}

	private static void requireInRange(Duration interval) {
		if (interval.compareTo(SHORTEST) < 0 || interval.compareTo(LONGEST) > 0) {
			throw new IllegalArgumentException(
					"The poll interval " + interval + " is out of range: at least 1 ms, at most 1 minute");
		}
	}

}
