package io.github.distributedlock.engine;

import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The fair requests of this JVM for a key. Each has a place of its own in the store, but
 * only the first one asks there of its own accord, for all: that keeps all places alive,
 * and it finds out whose wake-up got lost. The others ask when they are woken.
 * <p>
 * Invariants: a line exists exactly while somebody stands in it; the first one in it is
 * the lookout, also while it holds the lock. Who becomes the lookout is woken, since it
 * may have parked for good.
 */
final class Lookouts {

	private final Map<String, Set<Turn>> lines = new ConcurrentHashMap<>();

	/**
	 * Joins the line of a key.
	 * @return {@code false} if it may not wait and the first one holds the lock
	 */
	boolean join(Turn turn, boolean mayWait) {
		AtomicBoolean joined = new AtomicBoolean();
		this.lines.compute(turn.key, (key, present) -> {
			Set<Turn> line = (present != null) ? present : new LinkedHashSet<>();
			turn.lookout = line.isEmpty();
			if (mayWait || line.isEmpty() || !line.iterator().next().holding) {
				joined.set(line.add(turn));
			}
			return line;
		});
		return joined.get();
	}

	/**
	 * Leaves the line, if it stands there.
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

	boolean isEmpty() {
		return this.lines.isEmpty();
	}

}
