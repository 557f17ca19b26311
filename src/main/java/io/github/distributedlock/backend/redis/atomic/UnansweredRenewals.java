package io.github.distributedlock.backend.redis.atomic;

import java.util.LinkedHashMap;
import java.util.Map;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.Claim;
import org.jspecify.annotations.Nullable;

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
	 * Bounds the memory. Owners are forgotten when they give their lock back.
	 */
	private static final int MOST = 10_000;

	private final NameLocks underWay = new NameLocks();

	// The shortest lease that was asked for without an answer, by owner.
	private final Map<String, Long> leases = new LinkedHashMap<>() {

		@Override
		protected boolean removeEldestEntry(Map.Entry<String, Long> eldest) {
			return size() > MOST;
		}

	};

	/**
	 * Begins a renewal, once there is no other of that owner.
	 * @param claim the renewal
	 * @throws LockBackendException if it is for too long
	 */
	void begin(Claim claim) {
		this.underWay.enter(claim.owner());
		Long shortest = shortest(claim.owner());
		if (shortest != null && claim.lease().toMillis() > shortest) {
			this.underWay.leave(claim.owner());
			throw LockBackendException
				.of("Lock '" + LockException.printable(claim.key()) + "' cannot be renewed for "
						+ claim.lease().toMillis() + " ms: Redis has not answered to a renewal of it for " + shortest
						+ " ms, which may still be carried out and shorten it")
				.remedy("ask for no more than that")
				.notCarriedOut(true)
				.build();
		}
	}

	private synchronized @Nullable Long shortest(String owner) {
		return this.leases.get(owner);
	}

	/**
	 * Ends it.
	 * @param claim the renewal
	 * @param answered whether it is known what became of it
	 */
	void end(Claim claim, boolean answered) {
		if (!answered) {
			note(claim);
		}
		this.underWay.leave(claim.owner());
	}

	private synchronized void note(Claim unanswered) {
		this.leases.merge(unanswered.owner(), unanswered.lease().toMillis(), Math::min);
	}

	/**
	 * Forgets an owner that gives its lock back.
	 * @param owner the owner
	 */
	synchronized void forget(String owner) {
		this.leases.remove(owner);
	}

}
