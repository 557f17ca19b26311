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

	private RequestChecks() {
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
						+ ((key != null) ? "blank" : "null")
						+ ": it would lock more, or less, than was meant. Check what it is made from");
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
	 * Fails if a mode, fair and fenced do not go together.
	 */
	static void requireCompatible(List<String> keys, LockMode mode, boolean fair, boolean fenced) {
		if (mode == LockMode.SHARED && fair) {
			throw refused(keys, "SHARED and fair, but a shared lock queues up behind all exclusive requests that wait"
					+ " as it is. Request it without fair");
		}
		if (mode == LockMode.SHARED && fenced) {
			throw refused(keys, "SHARED and fenced, but a fencing token tells who wrote last, and shared locks are for"
					+ " reading. Request it without fenced, or as EXCLUSIVE");
		}
		if (fenced && keys.size() > 1) {
			throw refused(keys, "fenced, but a fencing token is of one key. Request one key as fenced, and the others"
					+ " around it");
		}
	}

	private static IllegalArgumentException refused(List<String> keys, String what) {
		return new IllegalArgumentException("Lock " + LockException.printable(keys) + " was requested as " + what);
	}

	/**
	 * Fails if a shortest hold does not fit into a limit of its request.
	 */
	static void requireNotLonger(List<String> keys, @Nullable Duration minHoldTime, String what,
			@Nullable Duration limit) {
		if (minHoldTime != null && limit != null && minHoldTime.compareTo(limit) > 0) {
			throw new IllegalArgumentException("minHoldTime " + DurationRange.text(minHoldTime) + " of lock "
					+ LockException.printable(keys) + " is longer than its " + what + " " + DurationRange.text(limit)
					+ ": the lock would be free before");
		}
	}

}
