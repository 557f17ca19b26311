package io.github.distributedlock.engine.queue;

import java.time.Duration;

import io.github.distributedlock.DurationRange;

/**
 * The polling interval that is used while no release notifications arrive: it grows from
 * about the least to about the greatest.
 *
 * @param min the least, from 1 millisecond
 * @param max the greatest, to 1 minute
 */
public record PollInterval(Duration min, Duration max) {

	public static final PollInterval DEFAULT = new PollInterval(Duration.ofMillis(50), Duration.ofMillis(500));

	public PollInterval {
		DurationRange.EXCHANGE.check("The poll interval", min);
		DurationRange.EXCHANGE.check("The poll interval", max);
		if (max.compareTo(min) < 0) {
			throw new IllegalArgumentException("The longest poll interval, " + DurationRange.text(max)
					+ ", is shorter than the shortest, which is " + DurationRange.text(min)
					+ ": make it at least as long");
		}
	}

}
