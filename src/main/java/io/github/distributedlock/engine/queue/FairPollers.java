package io.github.distributedlock.engine.queue;

import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The fair requests of this JVM that wait for a key. Each has a place of its own in the
 * store, but only the first one polls, for all: that keeps all places alive, also while
 * one of this JVM holds the lock, and it finds out whose wake-up got lost. The others ask
 * when they are woken. In what order they are served is up to the store.
 * <p>
 * Invariants: a line exists exactly while it has a request, and the first one in it polls
 * for all. A request that becomes the first is woken, for it may have parked for good,
 * and asks at once: the last sign of life may be as old as a poll.
 */
public final class FairPollers {

	private final Map<String, Set<QueueNode>> lines = new ConcurrentHashMap<>();

	void join(QueueNode node) {
		this.lines.compute(node.key(), (key, present) -> {
			Set<QueueNode> line = (present != null) ? present : new LinkedHashSet<>();
			node.poller = line.isEmpty();
			line.add(node);
			return line;
		});
	}

	/**
	 * Leaves the line: it holds the lock, or has given up.
	 */
	void leave(QueueNode node) {
		this.lines.computeIfPresent(node.key(), (key, line) -> {
			if (line.remove(node) && node.poller && !line.isEmpty()) {
				QueueNode next = line.iterator().next();
				next.poller = true;
				next.wake();
			}
			return line.isEmpty() ? null : line;
		});
	}

}
