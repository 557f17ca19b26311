package io.github.distributedlock.backend.redis;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.internal.DurationRange;

/**
 * Keeps renewals by plain commands from shortening each other. Such a renewal looks at
 * the time to live, and then sets the time to live to its own lease. If another renewal
 * made the lease longer in between, the lease would become shorter, while the holder
 * relies on the longer lease.
 * <p>
 * Invariants: renewals of one owner are sent one after another. A renewal that was not
 * answered may be carried out at any later time, so no longer lease is granted to that
 * owner after such a renewal.
 */
final class UnansweredRenewals {

	/**
	 * The bound on the number of owners in memory. An owner is forgotten when the owner
	 * releases the lock.
	 */
	private static final int MOST = 10_000;

	private final NameLocks underWay = new NameLocks();

	// The shortest lease of the renewals without an answer, in milliseconds, by owner.
	private final Map<String, Long> leases = Collections.synchronizedMap(new LinkedHashMap<>() {

		@Override
		protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
			return size() > MOST;
		}

	});

	/**
	 * Begins a renewal, once no other renewal of that owner is under way.
	 * @throws LockBackendException if an unanswered renewal of that owner had a shorter
	 * lease
	 */
	void begin(String key, String owner, long millis) {
		this.underWay.of(owner).lock();
		Long shortest = this.leases.get(owner);
		if (shortest != null && millis > shortest) {
			this.underWay.of(owner).unlock();
			throw LockBackendException
				.of("Lock '" + LockException.printable(key) + "' cannot be renewed for "
						+ DurationRange.text(Duration.ofMillis(millis)) + ": Redis has not answered a renewal for "
						+ DurationRange.text(Duration.ofMillis(shortest))
						+ ", which may still be carried out, and would then shorten the lease")
				.remedy("extend the lease by no more than " + DurationRange.text(Duration.ofMillis(shortest)))
				.withoutEffect(true)
				.build();
		}
	}

	/**
	 * Ends a renewal.
	 * @param answered whether the outcome of the renewal is known
	 */
	void end(String owner, long millis, boolean answered) {
		if (!answered) {
			this.leases.put(owner, millis); // This lease is the shortest, since begin
											// refuses longer leases.
		}
		this.underWay.of(owner).unlock();
	}

	/**
	 * Forgets an owner that releases its lock.
	 * @param owner the owner
	 */
	void forget(String owner) {
		this.leases.remove(owner);
	}

}
