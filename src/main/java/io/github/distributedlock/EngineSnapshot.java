package io.github.distributedlock;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

/**
 * What one engine holds and waits for, as it knows itself without asking the store.
 * Immutable. Its parts are read one after the other, so that a lock which is acquired or
 * released meanwhile may be in none of them, or in two. Later versions may have more
 * parts: what reads it goes by their names.
 *
 * @param holds what is held, or is being handed over to the next request of this engine:
 * one for each key and owner, in no order
 * @param queues the requests that queue up inside this engine for a key, one that asks
 * the store for it included; a key for which there is no request is not there
 * @param requestsWaiting how many requests ask for a lock now, each counted once however
 * many keys it has. Hardly any but those that wait for a busy one, since asking takes no
 * time to speak of
 * @param store what the store says about itself, by name: its {@code type}, and, of
 * Redis, its way of {@code atomicity}, once the server has been asked
 * @param notifies whether release notifications arrive; if not, the engine polls.
 * {@code null} as long as it is not known: of Redis until a request has had to wait
 * @param losses how many locks were lost since the engine was built, by reason; without
 * those that never were
 * @param lateRenewals how many leases were renewed {@linkplain LockEvent.RenewedLate
 * late} since then
 * @since 1.0
 */
public record EngineSnapshot(List<Hold> holds, Map<String, Queue> queues, int requestsWaiting,
		Map<String, String> store, @Nullable Boolean notifies, Map<LockEvent.Lost.Reason, Long> losses,
		long lateRenewals) {

	/**
	 * Creates a snapshot.
	 */
	public EngineSnapshot {
		holds = List.copyOf(holds);
		queues = Collections.unmodifiableMap(new TreeMap<>(queues));
		store = Map.copyOf(store);
		losses = Map.copyOf(losses);
	}

	@Override
	public String toString() {
		return LockException.printable("EngineSnapshot[holds=" + this.holds + ", queues=" + this.queues
				+ ", requestsWaiting=" + this.requestsWaiting + ", store=" + this.store + ", notifies=" + this.notifies
				+ ", losses=" + this.losses + ", lateRenewals=" + this.lateRenewals + "]");
	}

	/**
	 * A key that is held.
	 *
	 * @param key the key
	 * @param owner the owner token
	 * @param name the {@linkplain LockRequest#name(String) name} of the request that has
	 * it
	 * @param mode which owners may have the key together with it
	 * @param permits how many may have it together in that mode, as the request says: 1
	 * if it has no {@linkplain LockRequest#permits(int) permits}
	 * @param remaining for how long it is certainly held if nothing renews it
	 * @param since since when the request has had it, by the clock of this JVM when it
	 * got it; the same at each snapshot
	 * @param held for how long the request has had it
	 * @param renewals how often the lease was renewed for this owner
	 * @param thread the name of the thread that the handle is bound to, {@code null} for
	 * a request that is detached or asynchronous, as those of reactive chains are, and
	 * while the key is handed over
	 * @param fencingToken the fencing token, {@code null} if the request has none
	 */
	public record Hold(String key, String owner, String name, LockMode mode, int permits, Duration remaining,
			Instant since, Duration held, int renewals, @Nullable String thread, @Nullable Long fencingToken) {
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

}
