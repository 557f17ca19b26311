package io.github.distributedlock.internal.observability;

import java.util.List;
import java.util.function.BinaryOperator;

import io.github.distributedlock.LockStatus;
import io.github.distributedlock.LockStatus.Holder;
import io.github.distributedlock.LockStatus.Waiter;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * A key, as shown by the endpoint.
 *
 * @param key the key as the caller wrote it, which is therefore not hidden
 * @param free whether the key has no holder
 * @param heldHere whether this JVM holds the key
 * @param holders the holders for which the key is busy
 * @param waiters the waiters, first the one that came first
 */
record KeyDescriptor(String key, boolean free, boolean heldHere, List<Holder> holders,
		List<Waiter> waiters) implements OperationResponseBody {

	/**
	 * Describes a key.
	 * @param shown returns the text that is shown for a value, given the name of the
	 * field
	 */
	static KeyDescriptor of(LockStatus status, BinaryOperator<String> shown) {
		return new KeyDescriptor(status.key(), status.isFree(), status.heldHere(),
				status.holders().stream().map((holder) -> of(holder, shown)).toList(),
				status.waiters().stream().map((waiter) -> of(waiter, shown)).toList());
	}

	private static Holder of(Holder holder, BinaryOperator<String> shown) {
		return new Holder(shown.apply("owner", holder.owner()), holder.state(), holder.mode(), holder.remaining(),
				holder.permit());
	}

	private static Waiter of(Waiter waiter, BinaryOperator<String> shown) {
		String ticket = waiter.ticket();
		return new Waiter(shown.apply("instance", waiter.instance()), waiter.mode(),
				(ticket != null) ? shown.apply("ticket", ticket) : null, waiter.permits());
	}

}
