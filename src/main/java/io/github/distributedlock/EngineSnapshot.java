package io.github.distributedlock;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

/**
 * A snapshot of the locks that one engine holds and waits for, according to the engine
 * itself, without asking the store. A snapshot is immutable. The engine reads the parts
 * one after the other, so that a lock which is acquired or released meanwhile may be in
 * no part, or in two. Later versions may have more parts: code that reads a snapshot
 * should use the names of the parts.
 *
 * @param holds the holds, and the keys that are being handed over to the next request of
 * this engine: one for each key and owner, in no order
 * @param queues for each key, the requests that queue up inside this engine, including
 * the request that asks the store for the key. A key without such a request is left out
 * @param requestsWaiting how many requests ask for a lock now; a request with several
 * keys counts once. Nearly all of these requests wait for a busy lock, since asking the
 * store takes little time
 * @param store the details of the store, by name: the {@code type} and, for Redis, the
 * kind of {@code atomicity}, once the server has been asked
 * @param notifies {@code true} if release notifications arrive, {@code false} if the
 * engine polls, {@code null} as long as this is not known: with Redis, until a request
 * has had to wait
 * @param losses how many locks were lost since the engine was built, by reason; a reason
 * without a loss is left out
 * @param lateRenewals how many leases were renewed {@linkplain LockEvent.RenewedLate
 * late} since the engine was built
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
	 * the key
	 * @param mode which other owners may have the key at the same time
	 * @param permits how many owners may have the key together in that mode, according to
	 * the request: 1 if the request has no {@linkplain LockRequest#permits(int) permits}
	 * @param remaining for how long the key is certainly held if nothing renews the lease
	 * @param since when the request got the key, by the clock of this JVM at that moment;
	 * the same in each snapshot
	 * @param held for how long the request has had the key
	 * @param renewals how often the lease was renewed for this owner
	 * @param thread the name of the thread that the handle is bound to, {@code null} for
	 * a detached or asynchronous request (requests of reactive chains are asynchronous),
	 * and while the key is handed over
	 * @param fencingToken the fencing token, {@code null} if the request has none
	 */
	public record Hold(String key, String owner, String name, LockMode mode, int permits, Duration remaining,
			Instant since, Duration held, int renewals, @Nullable String thread, @Nullable Long fencingToken) {
	}

	/**
	 * The requests that queue up for a key.
	 *
	 * @param length how many requests there are
	 * @param longestWait the longest time that a request of the queue has waited, since
	 * the request asked for the first of its keys
	 */
	public record Queue(int length, Duration longestWait) {
	}

}
