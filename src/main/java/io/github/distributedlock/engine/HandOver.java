package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.atomic.LongAdder;

import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackend.HandOverResult;
import io.github.distributedlock.engine.Lease.Moment;
import org.jspecify.annotations.Nullable;

/**
 * Decides what becomes of a key that a hold has handed over to the next request of this
 * JVM. This makes a cohort lock, after Dice, Marathe and Shavit, <i>Lock Cohorting</i>
 * (2012).
 * <p>
 * Within a slice of time, the next request takes the key as it is, without asking the
 * store, if the lease suits the request. Otherwise one command passes the key on. Within
 * the slice, the key goes to the next request, under a token and a lease of its own.
 * After the slice, the key goes to the oldest other waiter in the store, and this JVM is
 * registered behind the others. If there is no other waiter, the key goes to the next
 * request, which begins a new slice. If the store keeps no place of this JVM, the key is
 * released after the slice instead. Then this JVM asks for the key after another slice,
 * or at the next poll if that is sooner.
 * <p>
 * Invariant: whatever is done with the key begins with one change of the key's state,
 * from vacant. A thread that fails to make that change does not touch the key. Safe for
 * use by many threads.
 *
 * @param slice the time, in nanoseconds, for which a key is handed over before others
 * that wait in the store come first
 * @param takenAgain counts the requests that have taken a key that had stayed here
 */
record HandOver(LockBackend backend, Leases leases, EngineTime time, long slice, LongAdder takenAgain) {

	/**
	 * Begins to hold what the store has given.
	 * @return the hold, guarded
	 */
	Hold begin(Ownership ownership, Hold.Entry entry, HoldOptions options, OptionalLong fencingToken) {
		Hold hold = new Hold(ownership, entry, options, fencingToken);
		ownership.take(hold);
		this.leases.watchdog().guard(ownership);
		return hold;
	}

	/**
	 * Takes a key without asking the store, if that is possible.
	 * @param kept whether the key has stayed here while nobody used it, so that the time
	 * for which the key is handed over does not count
	 * @return the hold; {@code null} if the key is to be passed on or is not vacant any
	 * more
	 */
	@Nullable Hold take(Ownership ownership, Hold.Entry entry, HoldOptions options, boolean kept) {
		Moment now = Moment.now(this.time);
		long left = ownership.lease().left(now);
		// Otherwise the key is passed on. A pass renews a lease that was not renewed in
		// time. A pass also ends a
		// lease that was extended for the hold before: others would wait for the end of
		// that lease if this JVM
		// died.
		if ((!kept && isSliceOver(ownership, now)) || !options.sharesLeaseOf(ownership.options())
				|| left < ownership.wholeLease() / 2 || left > options.lease()) {
			return null;
		}
		Hold hold = new Hold(ownership, entry, options, OptionalLong.empty());
		boolean taken = ownership.take(hold);
		if (taken && kept) {
			this.takenAgain.increment();
		}
		return taken ? hold : null;
	}

	/**
	 * Takes a key in order to pass the key on.
	 * @return {@code false} if the key is not vacant any more
	 */
	boolean takeToPass(Ownership ownership) {
		boolean taken = ownership.beginRelease();
		if (taken) {
			this.leases.watchdog().unguard(ownership);
		}
		return taken;
	}

	/**
	 * Passes on in the store a key that was taken for that.
	 * @param yields whether others that wait in the store come first
	 * @return the answer for the claim
	 */
	AcquireResult pass(Ownership ownership, Claim claim, boolean yields) {
		boolean answered = false;
		try {
			boolean releases = yields && !this.backend.keepsPlacesOf(claim.instance());
			HandOverResult passing = releases ? releaseForSlice(ownership, claim)
					: this.backend.pass(ownership.owner(), claim, yields);
			answered = true;
			if (!passing.owned()) {
				this.leases.discoveredAtRelease(ownership, ownership.hold());
			}
			return passing.next();
		}
		finally {
			this.leases.ended(ownership, answered);
		}
	}

	/**
	 * Releases a key and asks for the key after a slice, or at the next poll if that is
	 * sooner. Requests that wait elsewhere cannot be seen, and have to find the key free
	 * when they poll.
	 */
	private HandOverResult releaseForSlice(Ownership ownership, Claim claim) {
		boolean owned = this.backend.release(claim.key(), ownership.owner());
		return HandOverResult.of(owned, AcquireResult.busy(null, Duration.ofNanos(this.slice)));
	}

	/**
	 * Releases a key in the background that no local request took.
	 */
	void abandon(Ownership ownership) {
		if (takeToPass(ownership)) {
			this.leases.ended(ownership, false);
		}
	}

	/**
	 * Releases a key in the background whose request is not served any more.
	 */
	void undo(Hold hold) {
		// Has no effect on a hold that is lost already, because the engine has ended.
		hold.ownership().beginRelease(hold);
		this.leases.watchdog().unguard(hold.ownership());
		this.leases.ended(hold.ownership(), false);
	}

	/**
	 * Returns whether others that wait in the store come first now.
	 */
	boolean isSliceOver(Ownership ownership, Moment now) {
		long slice = (ownership.keepTime() > 0) ? ownership.keepTime() : this.slice;
		return now.nanos() - ownership.sliceStart() >= slice;
	}

}
