package io.github.distributedlock.observability;

import java.time.Duration;
import java.util.List;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockStatus;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * A key, as the endpoint tells of it.
 *
 * @param free whether it has no holder
 * @param heldHere whether this JVM holds it
 * @param holders those for which it is busy
 * @param waiters those that wait, first the one that came first
 */
record KeyDescriptor(String key, boolean free, boolean heldHere, List<Holder> holders,
		List<LockStatus.Waiter> waiters) implements OperationResponseBody {

	static KeyDescriptor of(LockStatus status, Values values) {
		return new KeyDescriptor(values.show("lock", status.key()), status.isFree(), status.heldHere(),
				status.holders()
					.stream()
					.map((holder) -> new Holder(values.show("owner", holder.name()), holder.state(), holder.mode(),
							holder.left()))
					.toList(),
				status.waiters()
					.stream()
					.map((waiter) -> new LockStatus.Waiter(values.show("instance", waiter.instance()), waiter.mode(),
							values.showIfPresent("ticket", waiter.ticket())))
					.toList());
	}

	/**
	 * One for which the key is busy.
	 *
	 * @param left how long it has the key unless it is renewed
	 */
	record Holder(String owner, LockStatus.State state, LockMode mode, @Nullable Duration left) {
	}

}
