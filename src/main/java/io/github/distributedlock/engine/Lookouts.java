package io.github.distributedlock.engine;

import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The fair requests of this JVM that wait for a key. Each has a place of its own in the
 * store, but only the first one asks there of its own accord, for all: that keeps all
 * places alive, also while one of this JVM holds the lock, and it finds out whose wake-up
 * got lost. The others ask when they are woken. In what order they are served is up to
 * the store.
 * <p>
 * Invariants: a line exists exactly while somebody stands in it, and the first one in it
 * is the lookout. Who becomes the lookout is woken, for it may have parked for good, and
 * asks at once: the last sign of life may be as old as a poll.
 */
final class Lookouts {

	private final Map<String, Set<Turn>> lines = new ConcurrentHashMap<>();

	void join(Turn turn) {
		this.lines.compute(turn.key, (key, present) -> {
			Set<Turn> line = (present != null) ? present : new LinkedHashSet<>();
			turn.lookout = line.isEmpty();
			line.add(turn);
			return line;
		});
	}

	/**
	 * Leaves the line: it holds the lock, or has given up.
	 */
	void leave(Turn turn) {
		this.lines.computeIfPresent(turn.key, (key, line) -> {
			if (line.remove(turn) && turn.lookout && !line.isEmpty()) {
				Turn next = line.iterator().next();
				next.lookout = true;
				next.wake();
			}
			return line.isEmpty() ? null : line;
		});
	}

}
