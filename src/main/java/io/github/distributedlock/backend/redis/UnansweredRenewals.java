package io.github.distributedlock.backend.redis;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;

/**
 * What renewals by plain commands have to know of each other. Such a renewal sets the
 * time to live to its own lease, and would shorten one that was made longer since it was
 * looked at, while the holder believes in the longer one.
 * <p>
 * Invariants: renewals of one owner are sent one after another. After one that was not
 * answered, and may be carried out at any later time, no longer lease is granted to that
 * owner.
 */
final class UnansweredRenewals {

	/**
	 * Bounds the memory. Owners are forgotten when they release their lock.
	 */
	private static final int MOST = 10_000;

	private final NameLocks underWay = new NameLocks();

	// The shortest lease that was asked for without an answer, by owner.
	private final Map<String, Long> leases = Collections.synchronizedMap(new LinkedHashMap<>() {

		@Override
		protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
			return size() > MOST;
		}

	});

	/**
	 * Begins a renewal, once there is no other of that owner.
	 * @throws LockBackendException if it is for too long
	 */
	void begin(String key, String owner, long millis) {
		this.underWay.of(owner).lock();
		Long shortest = this.leases.get(owner);
		if (shortest != null && millis > shortest) {
			this.underWay.of(owner).unlock();
			throw LockBackendException
				.of("Lock '" + LockException.printable(key) + "' cannot be renewed for " + millis
						+ " ms: Redis has not answered to a renewal of it for " + shortest
						+ " ms, which may still be carried out and shorten it")
				.remedy("ask for no more than that")
				.notCarriedOut(true)
				.build();
		}
	}

	/**
	 * Ends it.
	 * @param answered whether it is known what became of it
	 */
	void end(String owner, long millis, boolean answered) {
		if (!answered) {
			this.leases.put(owner, millis); // The shortest: begin refuses longer ones.
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
