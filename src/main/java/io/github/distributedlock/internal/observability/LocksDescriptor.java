package io.github.distributedlock.internal.observability;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BinaryOperator;

import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.EngineSnapshot.Hold;
import io.github.distributedlock.LockEvent.Lost.Reason;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * The locks of a JVM, as shown by the endpoint.
 *
 * @param holds the holds, longest first
 * @param queues the keys that requests wait for, first the one of the longest wait
 * @param requestsWaiting how many requests wait
 * @param store the store
 * @param losses how many locks were lost, by reason, since the application was started
 * @param lateRenewals how many leases were nearly lost
 */
record LocksDescriptor(List<Hold> holds, List<Queue> queues, int requestsWaiting, Store store, Map<Reason, Long> losses,
		long lateRenewals) implements OperationResponseBody {

	/**
	 * Describes the locks.
	 * @param shown returns the text that is shown for a value, given the name of the
	 * field
	 */
	static LocksDescriptor of(EngineSnapshot snapshot, BinaryOperator<String> shown) {
		return new LocksDescriptor(
				snapshot.holds()
					.stream()
					.sorted(Comparator.comparing(Hold::held).reversed())
					.map((hold) -> of(hold, shown))
					.toList(),
				snapshot.queues()
					.entrySet()
					.stream()
					.map((queue) -> new Queue(shown.apply("lock", queue.getKey()), queue.getValue().length(),
							millis(queue.getValue().longestWait())))
					.sorted(Comparator.comparing(Queue::longestWait).reversed())
					.toList(),
				snapshot.requestsWaiting(), new Store(snapshot.store(), snapshot.notifies()),
				new TreeMap<>(snapshot.losses()), snapshot.lateRenewals());
	}

	private static Hold of(Hold hold, BinaryOperator<String> shown) {
		String thread = hold.thread();
		return new Hold(shown.apply("lock", hold.key()), shown.apply("owner", hold.owner()), hold.name(), hold.mode(),
				hold.permits(), millis(hold.remaining()), hold.since().truncatedTo(ChronoUnit.MILLIS),
				millis(hold.held()), hold.renewals(), (thread != null) ? shown.apply("thread", thread) : null,
				hold.fencingToken());
	}

	private static Duration millis(Duration exact) {
		return exact.truncatedTo(ChronoUnit.MILLIS);
	}

	/**
	 * A key that requests wait for.
	 */
	record Queue(String key, int length, Duration longestWait) {
	}

	/**
	 * The store.
	 *
	 * @param details the store's description of itself
	 * @param notifies whether release notifications arrive, {@code null} as long as that
	 * is not known
	 */
	record Store(Map<String, String> details, @Nullable Boolean notifies) {
	}

}
