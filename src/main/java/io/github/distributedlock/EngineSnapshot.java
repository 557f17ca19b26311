package io.github.distributedlock;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What one engine holds and waits for, as it knows itself without asking the store.
 * Immutable. Its parts are read one after the other, so that a lock which is acquired or
 * released meanwhile may be in none of them, or in two.
 */
public final class EngineSnapshot {

	private final List<Hold> holds;

	private final Map<String, Integer> queues;

	private final int requestsWaiting;

	private EngineSnapshot(List<Hold> holds, Map<String, Integer> queues, int requestsWaiting) {
		this.holds = List.copyOf(holds);
		this.queues = Collections.unmodifiableMap(new TreeMap<>(queues));
		this.requestsWaiting = requestsWaiting;
	}

	/**
	 * Describes an engine.
	 * @param holds what it holds
	 * @param queues how many requests queue up for each key
	 * @param requestsWaiting how many requests wait
	 * @return the snapshot
	 */
	public static EngineSnapshot of(List<Hold> holds, Map<String, Integer> queues, int requestsWaiting) {
		return new EngineSnapshot(holds, queues, requestsWaiting);
	}

	/**
	 * What is held, or is being handed on to the next request of this engine: one for
	 * each key and owner.
	 * @return the holds, in no order
	 */
	public List<Hold> holds() {
		return this.holds;
	}

	/**
	 * How many requests queue up inside this engine for a key, one that asks the store
	 * for it included.
	 * @return the numbers by key; a key for which there is none is not there
	 */
	public Map<String, Integer> queues() {
		return this.queues;
	}

	/**
	 * How many requests ask for a lock now. Hardly any but those that wait for a busy
	 * one, since asking takes no time to speak of.
	 * @return the number of requests, each counted once however many keys it has
	 */
	public int requestsWaiting() {
		return this.requestsWaiting;
	}

	@Override
	public String toString() {
		return LockException.printable("EngineSnapshot[holds=" + this.holds + ", queues=" + this.queues
				+ ", requestsWaiting=" + this.requestsWaiting + "]");
	}

	/**
	 * A key that is held.
	 *
	 * @param key the key
	 * @param owner the owner token
	 * @param name the {@linkplain LockRequest#name(String) name} of the request that has
	 * it
	 * @param mode who may hold the key together with it
	 * @param left for how long it is certainly held if nothing renews it
	 */
	public record Hold(String key, String owner, String name, LockMode mode, Duration left) {
	}

}
