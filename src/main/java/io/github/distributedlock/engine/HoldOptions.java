package io.github.distributedlock.engine;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Waiter;
import org.jspecify.annotations.Nullable;

/**
 * What a request means for each of its holds, with the engine's defaults filled in. In
 * nanoseconds, but whole milliseconds, as stores count.
 *
 * @param request the request
 * @param leaseTime how long a lease is
 * @param keepTime for how long the key stays here when no request uses it, 0 if it does
 * not
 */
record HoldOptions(LockRequest request, Duration leaseTime, long keepTime) {

	static HoldOptions of(LockRequest request, Duration defaultLease, Duration defaultKeep) {
		Duration fixed = request.leaseTime();
		Duration lease = (fixed != null) ? fixed : defaultLease;
		Duration longest = request.maxHoldTime();
		if (longest != null && longest.compareTo(lease) < 0) {
			lease = longest;
		}
		HoldOptions options = new HoldOptions(request, lease.truncatedTo(ChronoUnit.MILLIS), 0);
		Duration own = request.keepTime();
		Duration keep = (own != null) ? own : defaultKeep;
		boolean keeps = !keep.isZero() && options.granted() && !options.fair() && longest == null;
		return keeps ? new HoldOptions(request, options.leaseTime, keep.toNanos()) : options;
	}

	/**
	 * The same, but the key does not stay here.
	 */
	HoldOptions withoutKeeping() {
		return new HoldOptions(this.request, this.leaseTime, 0);
	}

	/**
	 * How long a lease is.
	 */
	long lease() {
		return this.leaseTime.toNanos();
	}

	/**
	 * Whether the lease is renewed.
	 */
	boolean renewed() {
		return this.request.leaseTime() == null;
	}

	/**
	 * The longest hold, {@link Long#MAX_VALUE} for none.
	 */
	long maxHold() {
		return nanos(this.request.maxHoldTime(), Long.MAX_VALUE);
	}

	/**
	 * The shortest hold, 0 for none.
	 */
	long minHold() {
		return nanos(this.request.minHoldTime(), 0);
	}

	/**
	 * Whether it may be held by several owners.
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
	 * Whether no other owner may have the key beside it.
	 */
	boolean isAlone() {
		return !isShared() && permits() == 1;
	}

	/**
	 * Whether it is served strictly in order of arrival.
	 */
	boolean fair() {
		return this.request.fair();
	}

	/**
	 * Whether a fencing token is wanted.
	 */
	boolean fenced() {
		return this.request.fenced();
	}

	/**
	 * Whether it has to collect several keys, so that it holds some of them earlier than
	 * others.
	 */
	boolean collects() {
		return this.request.keys().size() > 1;
	}

	/**
	 * Whether its key may be handed over inside this JVM, from another request and to
	 * another, without the store's knowing.
	 */
	boolean mayBeHandedOver() {
		return this.request.keys().size() == 1 && isAlone() && !fair() && !fenced();
	}

	/**
	 * Whether the store may grant the key to it, without being asked again: if it tells
	 * nothing more than that, and the lease, which is short at first, need not be exact,
	 * nor outlast the hold.
	 */
	boolean granted() {
		return this.request.keys().size() == 1 && isAlone() && !fenced() && renewed() && minHold() == 0
				&& !this.request.expireOnClose();
	}

	/**
	 * What to ask of the store.
	 * @param instance its exclusive requests
	 */
	Claim claim(String key, String owner, Waiter instance) {
		return Claim.of(key, owner, instance, this.leaseTime)
			.mode(mode())
			.permits(permits())
			.fair(fair())
			.fenced(fenced());
	}

	/**
	 * Whether a hold may go on with the lease of another one, as it is.
	 */
	boolean sharesLeaseOf(HoldOptions other) {
		return renewed() && other.renewed() && lease() == other.lease() && maxHold() == Long.MAX_VALUE
				&& other.maxHold() == Long.MAX_VALUE;
	}

	private static long nanos(@Nullable Duration duration, long absent) {
		return (duration != null) ? TimeUnit.MILLISECONDS.toNanos(duration.toMillis()) : absent;
	}

}
