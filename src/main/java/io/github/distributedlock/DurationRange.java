package io.github.distributedlock;

import java.time.Duration;
import java.util.Objects;

/**
 * The range of each kind of duration, for all that take one. No API: public only for the
 * neighbouring packages.
 */
public enum DurationRange {

	/**
	 * How long something may be waited for, or goes on; zero means not at all.
	 */
	WAIT(0, Duration.ofDays(365), "365 days"),

	/**
	 * The same, but more than zero.
	 */
	HOLD(1, Duration.ofDays(365), "365 days"),

	/**
	 * A lease: the shortest can still be told from a slow network.
	 */
	LEASE(100, Duration.ofDays(365), "365 days"),

	/**
	 * A lease that a watchdog has to renew in time over a slow network.
	 */
	RENEWED_LEASE(1000, Duration.ofDays(365), "365 days"),

	/**
	 * How long a key that nobody uses may stay where it was used.
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
	 * Whether a duration is in this range.
	 * @param duration the duration
	 * @return whether it is
	 */
	public boolean contains(Duration duration) {
		return duration.compareTo(this.least) >= 0 && duration.compareTo(this.most) <= 0;
	}

	/**
	 * Refuses a duration that is out of range.
	 * @param what its name in the message
	 * @param duration the duration
	 * @return the duration
	 * @throws IllegalArgumentException if it is out of range
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
	 * Writes a duration as people read it in all messages: {@code 5 s}, {@code 250 ms},
	 * {@code 12.345 s}, whatever its length.
	 * @param duration the duration
	 * @return whole seconds, milliseconds below 10 seconds, else seconds with a fraction
	 */
	public static String text(Duration duration) {
		long seconds = duration.getSeconds();
		// Math.abs of the least number is negative.
		boolean isLong = seconds > 100_000 || seconds < -100_000;
		if (isLong || seconds >= 10) {
			String fraction = isLong ? ""
					: ("." + (1000 + duration.toMillisPart())).replaceFirst("[.]1", ".").replaceFirst("[.]?0+$", "");
			return seconds + fraction + " s";
		}
		return (duration.getNano() == 0 && !duration.isZero()) ? seconds + " s" : duration.toMillis() + " ms";
	}

}
