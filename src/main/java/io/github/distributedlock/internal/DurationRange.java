package io.github.distributedlock.internal;

import java.time.Duration;
import java.util.Objects;

/**
 * The range of each kind of duration, for all code that accepts a duration. No API: this
 * enum is public only for the other packages of this library.
 */
public enum DurationRange {

	/**
	 * The time of a wait or of an activity; zero means no wait, or no activity.
	 */
	WAIT(0, Duration.ofDays(365), "365 days"),

	/**
	 * The time of a hold or of an activity, more than zero.
	 */
	HOLD(1, Duration.ofDays(365), "365 days"),

	/**
	 * A lease: the shortest lease still differs from a delay of a slow network.
	 */
	LEASE(100, Duration.ofDays(365), "365 days"),

	/**
	 * A lease that a watchdog has to renew in time over a slow network.
	 */
	RENEWED_LEASE(1000, Duration.ofDays(365), "365 days"),

	/**
	 * How long a key that nobody uses may stay with a JVM.
	 */
	KEEP(0, Duration.ofMinutes(1), "1 minute"),

	/**
	 * How long one exchange with the store may take, or the pause before the next one.
	 */
	EXCHANGE(1, Duration.ofMinutes(1), "1 minute");

	private final Duration least;

	private final Duration most;

	private final String mostInWords;

	DurationRange(long leastMillis, Duration most, String mostInWords) {
		this.least = Duration.ofMillis(leastMillis);
		this.most = most;
		this.mostInWords = mostInWords;
	}

	/**
	 * Returns whether a duration is in this range.
	 * @param duration the duration
	 * @return {@code true} if the duration is in this range
	 */
	public boolean contains(Duration duration) {
		return duration.compareTo(this.least) >= 0 && duration.compareTo(this.most) <= 0;
	}

	/**
	 * Refuses a duration that is out of range.
	 * @param what the name of the duration in the message
	 * @param duration the duration
	 * @return the duration
	 * @throws IllegalArgumentException if the duration is out of range
	 */
	public Duration check(String what, Duration duration) {
		if (!contains(Objects.requireNonNull(duration, what))) {
			throw new IllegalArgumentException(what + " " + text(duration) + " is out of range: at least "
					+ text(this.least) + ", at most " + this.mostInWords + hint(duration));
		}
		return duration;
	}

	private String hint(Duration duration) {
		if (duration.isNegative()) {
			return (this == WAIT) ? ", which is as good as for ever" : "";
		}
		boolean seconds = duration.compareTo(this.least) < 0 && duration.toMillis() > 0;
		return seconds ? "; write " + duration.toMillis() + "s if seconds are meant" : "";
	}

	/**
	 * Writes a duration of any length in the form of all messages: {@code 5 s},
	 * {@code 250 ms}, {@code 12.345 s}.
	 * @param duration the duration
	 * @return whole seconds, milliseconds below 10 seconds, else seconds with a fraction
	 */
	public static String text(Duration duration) {
		long seconds = duration.getSeconds();
		// Two comparisons, since Math.abs of the least long is negative.
		boolean isLong = seconds > 100_000 || seconds < -100_000;
		if (isLong || seconds >= 10) {
			String fraction = isLong ? ""
					: ("." + (1000 + duration.toMillisPart())).replaceFirst("[.]1", ".").replaceFirst("[.]?0+$", "");
			return seconds + fraction + " s";
		}
		return (duration.getNano() == 0 && !duration.isZero()) ? seconds + " s" : duration.toMillis() + " ms";
	}

}
