package io.github.distributedlock.observability;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockMode;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * The locks of a JVM, as the endpoint tells of them.
 *
 * @param holds what is held, first what has been held longest
 * @param queues the keys that requests wait for, first the one of the longest wait
 * @param requestsWaiting how many requests wait
 * @param store the store
 * @param losses how many locks were lost, by reason, since the application was started
 * @param lateRenewals how many leases were nearly lost
 */
record LocksDescriptor(List<Hold> holds, List<Queue> queues, int requestsWaiting, Store store, Map<Reason, Long> losses,
		long lateRenewals) implements OperationResponseBody {

	static LocksDescriptor of(EngineSnapshot snapshot, Values values) {
		return new LocksDescriptor(
				snapshot.holds()
					.stream()
					.sorted(Comparator.comparing(EngineSnapshot.Hold::held).reversed())
					.map((hold) -> Hold.of(hold, values))
					.toList(),
				snapshot.queues()
					.entrySet()
					.stream()
					.map((queue) -> new Queue(values.show("lock", queue.getKey()), queue.getValue().length(),
							millis(queue.getValue().longestWait())))
					.sorted(Comparator.comparing(Queue::longestWait).reversed())
					.toList(),
				snapshot.requestsWaiting(), new Store(snapshot.store(), snapshot.notifies()),
				new TreeMap<>(snapshot.losses()), snapshot.lateRenewals());
	}

	private static Duration millis(Duration exact) {
		return exact.truncatedTo(ChronoUnit.MILLIS);
	}

	/**
	 * A key that is held.
	 *
	 * @param since since when the request has had it
	 * @param left for how long it is certainly held if nothing renews it
	 */
	record Hold(String key, String name, LockMode mode, String owner, Instant since, Duration left, int renewals,
			@Nullable String thread, @Nullable Long fencingToken) {

		static Hold of(EngineSnapshot.Hold hold, Values values) {
			return new Hold(values.show("lock", hold.key()), hold.name(), hold.mode(),
					values.show("owner", hold.owner()), hold.since().truncatedTo(ChronoUnit.MILLIS),
					millis(hold.left()), hold.renewals(), values.showIfPresent("thread", hold.thread()),
					hold.fencingToken());
		}

	}

	/**
	 * A key that requests wait for.
	 */
	record Queue(String key, int length, Duration longestWait) {
	}

	/**
	 * The store.
	 *
	 * @param details what it tells of itself
	 * @param notifies whether wake-ups arrive, {@code null} as long as it is not known
	 */
	record Store(Map<String, String> details, @Nullable Boolean notifies) {
	}

}
