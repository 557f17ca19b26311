package io.github.distributedlock;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * What a {@link LockRequest} refuses.
 */
final class RequestChecks {

	private static final Duration LONGEST = Duration.ofDays(365);

	private RequestChecks() {
	}

	/**
	 * The duration, if it is in range.
	 */
	static Duration between(String what, Duration duration, Duration least) {
		Objects.requireNonNull(duration, what);
		if (duration.compareTo(least) < 0 || duration.compareTo(LONGEST) > 0) {
			throw new IllegalArgumentException(
					what + " " + duration + " is out of range: at least " + least.toMillis() + " ms, at most 365 days");
		}
		return duration;
	}

	/**
	 * Each key once, in the order given, if all are usable.
	 */
	static List<String> distinct(Collection<String> keys) {
		if (Objects.requireNonNull(keys, "keys").isEmpty()) {
			throw new IllegalArgumentException("A lock needs at least one key");
		}
		int index = 0;
		for (@Nullable
		String key : keys) {
			if (key == null || key.isBlank()) {
				throw new IllegalArgumentException("Lock key " + index + " of " + LockException.printable(keys) + " is "
						+ ((key != null) ? "blank" : "null") + ": it would lock more, or less, than was meant");
			}
			index++;
		}
		List<String> distinct = List.copyOf((keys.size() == 1) ? keys : new LinkedHashSet<>(keys));
		if (distinct.size() > LockRequest.MOST_KEYS) {
			throw new IllegalArgumentException(
					"A lock of " + distinct.size() + " keys was requested, but at most " + LockRequest.MOST_KEYS
							+ " are allowed. Lock by a coarser key, such as that of what they all belong to");
		}
		return distinct;
	}

	/**
	 * Fails if a shortest hold does not fit into a limit of its request.
	 */
	static void requireNotLonger(List<String> keys, @Nullable Duration minHoldTime, String what,
			@Nullable Duration limit) {
		if (minHoldTime != null && limit != null && minHoldTime.compareTo(limit) > 0) {
			throw new IllegalArgumentException(
					"minHoldTime " + minHoldTime + " of lock " + LockException.printable(keys) + " is longer than its "
							+ what + " " + limit + ": the lock would be free before");
		}
	}

}
