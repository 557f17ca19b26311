package io.github.distributedlock.test;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import io.github.distributedlock.test.History.Hold;

/**
 * Tells whether a key was ever held twice at the same time.
 */
public final class HistoryChecker {

	private static final int SHOWN = 10;

	private HistoryChecker() {
	}

	/**
	 * Checks that no two holds of one key overlap.
	 * @param holds the holds of all processes
	 * @throws AssertionError if two do; shows both of them
	 */
	public static void assertExclusive(Collection<Hold> holds) {
		assertNone(overlaps(holds), holds);
	}

	/**
	 * Checks that no shared hold of a key overlaps an exclusive one.
	 * @param readers the shared holds of all processes
	 * @param writers the exclusive holds of all processes
	 * @throws AssertionError if two do; shows both of them
	 */
	public static void assertApart(Collection<Hold> readers, Collection<Hold> writers) {
		List<Hold> all = Stream.concat(readers.stream(), writers.stream()).toList();
		Set<Hold> exclusive = new HashSet<>(writers);
		List<Overlap> overlaps = new ArrayList<>();
		Map<String, Hold> lastRead = new HashMap<>();
		Map<String, Hold> lastWritten = new HashMap<>();
		for (Hold hold : all.stream().sorted(Comparator.comparingLong(Hold::from)).toList()) {
			boolean writes = exclusive.contains(hold);
			Hold before = (writes ? lastRead : lastWritten).get(hold.key());
			if (before != null && hold.from() < before.until()) {
				overlaps.add(new Overlap(before, hold));
			}
			(writes ? lastWritten : lastRead).merge(hold.key(), hold,
					(one, other) -> (one.until() > other.until()) ? one : other);
		}
		assertNone(overlaps, all);
	}

	private static void assertNone(List<Overlap> overlaps, Collection<Hold> holds) {
		if (overlaps.isEmpty()) {
			return;
		}
		long origin = holds.stream().mapToLong(Hold::from).min().orElse(0);
		StringBuilder message = new StringBuilder();
		message.append(overlaps.size()).append(" of ").append(holds.size()).append(" holds overlap an earlier one");
		overlaps.stream().limit(SHOWN).forEach((overlap) -> message.append(overlap.describe(origin)));
		if (overlaps.size() > SHOWN) {
			message.append("\n…");
		}
		throw new AssertionError(message);
	}

	/**
	 * Finds the holds that began while the key was still held.
	 * @param holds the holds of all processes
	 * @return each with one that it overlaps
	 */
	public static List<Overlap> overlaps(Collection<Hold> holds) {
		List<Overlap> overlaps = new ArrayList<>();
		Map<String, Hold> latest = new HashMap<>();
		for (Hold hold : holds.stream().sorted(Comparator.comparingLong(Hold::from)).toList()) {
			Hold before = latest.get(hold.key());
			if (before != null && hold.from() < before.until()) {
				overlaps.add(new Overlap(before, hold));
			}
			// A long hold goes on under the short one that overlaps it.
			if (before == null || hold.until() > before.until()) {
				latest.put(hold.key(), hold);
			}
		}
		return overlaps;
	}

	/**
	 * Finds the holds whose fencing token is not greater than that of a hold of the same
	 * key that began before: a resource would take the earlier one for the later.
	 * @param holds the holds of all processes; those without a token do not count
	 * @return each with one that it does not outrank
	 */
	public static List<Overlap> regressions(Collection<Hold> holds) {
		List<Overlap> regressions = new ArrayList<>();
		Map<String, Hold> highest = new HashMap<>();
		List<Hold> fenced = holds.stream()
			.filter((hold) -> hold.token().isPresent())
			.sorted(Comparator.comparingLong(Hold::from))
			.toList();
		for (Hold hold : fenced) {
			Hold before = highest.get(hold.key());
			if (before == null || hold.token().getAsLong() > before.token().getAsLong()) {
				highest.put(hold.key(), hold);
			}
			else {
				regressions.add(new Overlap(before, hold));
			}
		}
		return regressions;
	}

	/**
	 * Two holds of one key in an order that must not be.
	 *
	 * @param first the one that began first
	 * @param second the one that began while it went on
	 */
	public record Overlap(Hold first, Hold second) {
		private String describe(long origin) {
			long nanos = Math.min(this.first.until(), this.second.until()) - this.second.from();
			return "\nkey '%s' was held twice for %s ms:%s%s".formatted(this.first.key(), millis(nanos),
					describe(this.first, origin), describe(this.second, origin));
		}

		private static String describe(Hold hold, long origin) {
			return "\n  from %12s ms  to %12s ms (%s)  by %s".formatted(millis(hold.from() - origin),
					millis(hold.until() - origin), hold.returned() ? "given back" : "its deadline", hold.owner());
		}

		private static String millis(long nanos) {
			return String.format(Locale.ROOT, "%.3f", nanos / 1_000_000.0);
		}

	}

}
