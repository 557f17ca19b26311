package io.github.distributedlock.engine.lease;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import org.jspecify.annotations.Nullable;

/**
 * What a request means for each of its holds, with the engine's defaults filled in. In
 * nanoseconds, but whole milliseconds, as stores count.
 *
 * @param name the request's name
 * @param lease how long a lease is
 * @param renewed whether it is renewed
 * @param maxHold the longest hold, {@link Long#MAX_VALUE} for none
 * @param minHold the shortest hold, 0 for none
 * @param expireOnClose whether the lease is left to run out
 * @param mode whether it may be held by several owners
 * @param fair whether it is served strictly in order of arrival
 * @param fenced whether a fencing token is wanted
 * @param handedOn whether its hold may be handed on inside this JVM, from another request
 * and to another, without the store's knowing
 */
public record HoldOptions(String name, long lease, boolean renewed, long maxHold, long minHold, boolean expireOnClose,
		LockMode mode, boolean fair, boolean fenced, boolean handedOn) {

	public static HoldOptions of(LockRequest request, Duration defaultLease) {
		Duration fixed = request.leaseTime();
		long maxHold = nanos(request.maxHoldTime(), Long.MAX_VALUE);
		long lease = Math.min(nanos((fixed != null) ? fixed : defaultLease, 0), maxHold);
		return new HoldOptions(request.name(), lease, fixed == null, maxHold, nanos(request.minHoldTime(), 0),
				request.expireOnClose(), request.mode(), request.fair(), request.fenced(), mayBeHandedOn(request));
	}

	private static boolean mayBeHandedOn(LockRequest request) {
		return request.keys().size() == 1 && request.mode() == LockMode.EXCLUSIVE && !request.fair()
				&& !request.fenced();
	}

	public boolean isShared() {
		return this.mode == LockMode.SHARED;
	}

	/**
	 * What to ask of the store.
	 */
	public Claim claim(String key, String owner, String instance) {
		return Claim.of(key, owner, instance, Duration.ofNanos(this.lease))
			.mode(this.mode)
			.fair(this.fair)
			.fenced(this.fenced);
	}

	/**
	 * Whether a hold may go on with the lease of another one, as it is.
	 */
	public boolean sharesLeaseOf(HoldOptions other) {
		return this.renewed && other.renewed && this.lease == other.lease && this.maxHold == Long.MAX_VALUE
				&& other.maxHold == Long.MAX_VALUE;
	}

	private static long nanos(@Nullable Duration duration, long absent) {
		return (duration != null) ? TimeUnit.MILLISECONDS.toNanos(duration.toMillis()) : absent;
	}

}
