package io.github.distributedlock.engine;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.ReleaseOn;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Waiter;
import org.jspecify.annotations.Nullable;

/**
 * The terms of a request for each of its holds, with the engine's defaults filled in. All
 * times are in nanoseconds, but whole milliseconds, as stores count.
 *
 * @param request the request
 * @param leaseTime the length of a lease
 * @param claimedLease the lease to ask for at first: a short one if the key may stay
 * @param keepTime for how long the key stays here when no request uses the key, 0 if the
 * key does not stay
 */
record HoldOptions(LockRequest request, Duration leaseTime, Duration claimedLease, long keepTime) {

	static HoldOptions of(LockRequest request, Duration defaultLease) {
		Duration fixed = request.leaseTime();
		Duration lease = (fixed != null) ? fixed : defaultLease;
		Duration longest = request.maxHoldTime();
		if (longest != null && longest.compareTo(lease) < 0) {
			lease = longest;
		}
		Duration whole = lease.truncatedTo(ChronoUnit.MILLIS);
		return new HoldOptions(request, whole, whole, 0);
	}

	/**
	 * Returns the same options, except that the key stays here for a while.
	 * @param shortLease the lease of a key that stays
	 */
	HoldOptions keeping(Duration keepTime, Duration shortLease) {
		boolean isShorter = shortLease.compareTo(this.leaseTime) < 0;
		return new HoldOptions(this.request, this.leaseTime, isShorter ? shortLease : this.leaseTime,
				keepTime.toNanos());
	}

	/**
	 * Returns whether the key may stay here when no request uses the key: the store has
	 * to tell nothing about the next hold, and the ownership may outlast a hold.
	 */
	boolean mayStay() {
		return granted() && !fair() && this.request.maxHoldTime() == null;
	}

	/**
	 * Returns whether the key stays here, so that others ask its owner for the key.
	 */
	boolean stays() {
		return this.keepTime > 0;
	}

	/**
	 * Returns the length of a lease.
	 */
	long lease() {
		return this.leaseTime.toNanos();
	}

	/**
	 * Returns whether the lease is renewed.
	 */
	boolean renewed() {
		return this.request.leaseTime() == null;
	}

	/**
	 * Returns the longest time of a hold, {@link Long#MAX_VALUE} for no limit.
	 */
	long maxHold() {
		return nanos(this.request.maxHoldTime(), Long.MAX_VALUE);
	}

	/**
	 * Returns the shortest time of a hold, 0 for no minimum.
	 */
	long minHold() {
		return nanos(this.request.minHoldTime(), 0);
	}

	/**
	 * Returns the mode, which tells whether several owners may hold the key.
	 */
	LockMode mode() {
		return this.request.mode();
	}

	boolean isShared() {
		return mode() == LockMode.SHARED;
	}

	int permits() {
		return this.request.permits();
	}

	/**
	 * Returns whether no other owner may have the key beside the hold.
	 */
	boolean isAlone() {
		return !isShared() && permits() == 1;
	}

	/**
	 * Returns whether the request is served strictly in order of arrival.
	 */
	boolean fair() {
		return this.request.fair();
	}

	/**
	 * Returns whether a fencing token is wanted.
	 */
	boolean fenced() {
		return this.request.fenced();
	}

	/**
	 * Returns whether the request has to collect several keys, so that the request holds
	 * some keys earlier than others.
	 */
	boolean collects() {
		return this.request.keys().size() > 1;
	}

	/**
	 * Returns whether the key may be handed over inside this JVM, from another request
	 * and to another, without the store's knowing.
	 */
	boolean mayBeHandedOver() {
		return !collects() && isAlone() && !fair() && !fenced();
	}

	/**
	 * Returns whether the store may grant the key to the request without being asked
	 * again. This is so if the store has to tell nothing more than the grant, and if the
	 * lease, which is short at first, need not be exact, nor outlast the hold.
	 */
	boolean granted() {
		return !collects() && isAlone() && !fenced() && renewed() && minHold() == 0
				&& this.request.releaseOn() == ReleaseOn.CLOSE;
	}

	/**
	 * Returns the claim that tells the store what to acquire.
	 * @param instance the waiter that this JVM's exclusive requests are in the store
	 */
	Claim claim(String key, String owner, Waiter instance) {
		return Claim.of(key, owner, instance, this.claimedLease)
			.mode(mode())
			.permits(permits())
			.fair(fair())
			.fenced(fenced());
	}

	/**
	 * Returns whether a hold may go on with the lease of another hold, as the lease is.
	 */
	boolean sharesLeaseOf(HoldOptions other) {
		return renewed() && other.renewed() && lease() == other.lease() && maxHold() == Long.MAX_VALUE
				&& other.maxHold() == Long.MAX_VALUE;
	}

	private static long nanos(@Nullable Duration duration, long absent) {
		return (duration != null) ? TimeUnit.MILLISECONDS.toNanos(duration.toMillis()) : absent;
	}

}
