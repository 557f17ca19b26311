package io.github.distributedlock;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

/**
 * What one engine holds and waits for, as it knows itself without asking the store.
 * Immutable. Its parts are read one after the other, so that a lock which is acquired or
 * released meanwhile may be in none of them, or in two.
 */
public final class EngineSnapshot {

	private final List<Hold> holds;

	private final Map<String, Queue> queues;

	private final int requestsWaiting;

	private final Store store;

	private final Incidents incidents;

	private EngineSnapshot(List<Hold> holds, Map<String, Queue> queues, int requestsWaiting, Store store,
			Incidents incidents) {
		this.holds = List.copyOf(holds);
		this.queues = Collections.unmodifiableMap(new TreeMap<>(queues));
		this.requestsWaiting = requestsWaiting;
		this.store = Objects.requireNonNull(store, "store");
		this.incidents = Objects.requireNonNull(incidents, "incidents");
	}

	/**
	 * Describes an engine.
	 * @param holds what it holds
	 * @param queues the requests that queue up, by key
	 * @param requestsWaiting how many requests wait
	 * @param store what is known of its store
	 * @param incidents what has gone wrong
	 * @return the snapshot
	 */
	public static EngineSnapshot of(List<Hold> holds, Map<String, Queue> queues, int requestsWaiting, Store store,
			Incidents incidents) {
		return new EngineSnapshot(holds, queues, requestsWaiting, store, incidents);
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
	 * The requests that queue up inside this engine for a key, one that asks the store
	 * for it included.
	 * @return the queues by key; a key for which there is no request is not there
	 */
	public Map<String, Queue> queues() {
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

	/**
	 * The store, as the engine knows it.
	 * @return the store
	 */
	public Store store() {
		return this.store;
	}

	/**
	 * What has gone wrong since the engine was built.
	 * @return the counts
	 */
	public Incidents incidents() {
		return this.incidents;
	}

	@Override
	public String toString() {
		return LockException
			.printable("EngineSnapshot[holds=" + this.holds + ", queues=" + this.queues + ", requestsWaiting="
					+ this.requestsWaiting + ", store=" + this.store + ", incidents=" + this.incidents + "]");
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
	 * @param since since when the request has had it, by the clock of this JVM when it
	 * got it; the same at each snapshot
	 * @param held for how long the request has had it
	 * @param renewals how often the lease was renewed for this owner
	 * @param thread the name of the thread that the handle is bound to, {@code null} for
	 * a request that is detached or asynchronous, as those of reactive chains are, and
	 * while the key is handed on
	 * @param fencingToken the fencing token, {@code null} if the request has none
	 */
	public record Hold(String key, String owner, String name, LockMode mode, Duration left, Instant since,
			Duration held, int renewals, @Nullable String thread, @Nullable Long fencingToken) {
	}

	/**
	 * The requests that queue up for a key.
	 *
	 * @param length how many there are
	 * @param longestWait for how long the one has waited that has waited longest, since
	 * it asked for its first key
	 */
	public record Queue(int length, Duration longestWait) {
	}

	/**
	 * A store.
	 *
	 * @param details what it tells of itself, by name: its {@code type}, and, of Redis,
	 * its way of {@code atomicity}, once the server has been asked
	 * @param notifies whether release notifications arrive; if not, the engine polls.
	 * {@code null} as long as it is not known: of Redis until a request has had to wait
	 */
	public record Store(Map<String, String> details, @Nullable Boolean notifies) {

		/**
		 * Creates one.
		 */
		public Store {
			details = Map.copyOf(details);
		}

	}

	/**
	 * What has gone wrong.
	 *
	 * @param losses how many locks were lost, by reason; without those that never were
	 * @param lateRenewals how many leases were renewed {@linkplain LockEvent.RenewedLate
	 * late}
	 */
	public record Incidents(Map<LockEvent.Lost.Reason, Long> losses, long lateRenewals) {

		/**
		 * Creates them.
		 */
		public Incidents {
			losses = Map.copyOf(losses);
		}

	}

}
