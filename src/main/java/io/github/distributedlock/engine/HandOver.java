package io.github.distributedlock.engine;

import java.util.OptionalLong;

import io.github.distributedlock.backend.Attempt;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.Passing;
import io.github.distributedlock.engine.Lease.Moment;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of a key that a hold has handed on to the next turn of this JVM: a cohort
 * lock, after Dice, Marathe and Shavit, <i>Lock Cohorting</i> (2012).
 * <p>
 * Within a slice of time it is taken as it is, without asking the store, if the lease
 * suits the next request. Otherwise one command passes it on: within the slice to the
 * next request under a token and a lease of its own; after it to the oldest of the others
 * that wait in the store, behind which we are registered, or, if there is none, to the
 * next request, which begins a new slice.
 * <p>
 * Invariant: whatever becomes of it begins with one change of its state, from vacant. Who
 * does not manage that change does not touch it.
 */
final class HandOver {

	private final LockBackend backend;

	private final Watchdog watchdog;

	private final Losses losses;

	private final Sweeper sweeper;

	private final EngineTime time;

	private final long slice;

	/**
	 * Creates it.
	 * @param slice for how long a key is handed on without asking who else waits
	 */
	HandOver(LockBackend backend, Watchdog watchdog, Losses losses, Sweeper sweeper, EngineTime time, long slice) {
		this.backend = backend;
		this.watchdog = watchdog;
		this.losses = losses;
		this.sweeper = sweeper;
		this.time = time;
		this.slice = slice;
	}

	/**
	 * Takes a key without asking the store, if that is possible.
	 */
	@Nullable Hold take(Tenure tenure, @Nullable Turn turn, Terms terms) {
		Moment now = Moment.now(this.time);
		long left = tenure.lease().left(now);
		// Passing it on renews a lease that nobody managed to renew in time, and ends one
		// that was extended for the hold before: if this JVM dies, others wait for it.
		if (isSliceOver(tenure, now) || !terms.sharesLeaseOf(tenure.terms) || left < terms.lease() / 2
				|| left > terms.lease()) {
			return null;
		}
		Hold hold = new Hold(tenure, turn, terms, OptionalLong.empty(), this.time);
		return tenure.take(hold) ? hold : null;
	}

	/**
	 * Takes a key in order to pass it on.
	 * @return {@code false} if somebody else has it
	 */
	boolean takeToPass(Tenure tenure) {
		boolean taken = this.losses.isStillOwned(tenure) && tenure.beginRelease();
		if (taken) {
			this.watchdog.unguard(tenure);
		}
		return taken;
	}

	/**
	 * Passes a key on in the store that was taken for that.
	 * @param yields whether others that wait in the store come first
	 * @return the answer for the claim
	 */
	Attempt pass(Tenure tenure, Claim claim, boolean yields) {
		boolean answered = false;
		try {
			Passing passing = this.backend.pass(tenure.owner, claim, yields);
			answered = true;
			if (!passing.owned()) {
				this.losses.discoveredAtRelease(tenure);
			}
			return passing.next();
		}
		finally {
			end(tenure, answered);
		}
	}

	/**
	 * Gives a key back in the background that nobody here took.
	 */
	void abandon(Tenure tenure) {
		if (tenure.beginRelease()) {
			this.watchdog.unguard(tenure);
			end(tenure, false);
		}
	}

	/**
	 * Gives a key back in the background that nobody here may have.
	 */
	void undo(Hold hold) {
		hold.tenure.beginRelease(hold); // Or it is lost already, to the end of the
										// engine.
		this.watchdog.unguard(hold.tenure);
		end(hold.tenure, false);
	}

	private void end(Tenure tenure, boolean answered) {
		if (!answered) {
			this.sweeper.release(tenure, 0);
		}
		if (tenure.isUnsettled()) {
			this.sweeper.cleanUp(tenure);
		}
	}

	/**
	 * Whether others that wait in the store come first now.
	 */
	boolean isSliceOver(Tenure tenure, Moment now) {
		return now.nanos() - tenure.sliceStart >= this.slice;
	}

}
