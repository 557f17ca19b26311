package io.github.distributedlock.engine.queue;

import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Holder;
import org.jspecify.annotations.Nullable;

/**
 * The lease of the present owner, as the store told of it: when it ends, no request is
 * woken. Confined to the requesting thread.
 * <p>
 * Of one that is renewed the store tells again and again, and the end that it told passes
 * in vain if the lease is shorter than a poll. Then an end counts only if it is nearer
 * than one that is renewed in time ever comes: so a lock that is held costs no more
 * questions than the polls, but for one.
 */
final class OthersLease {

	/**
	 * Keeps a store that tells of no time at all from being asked all the time.
	 */
	private static final long LEAST = TimeUnit.MILLISECONDS.toNanos(1);

	private @Nullable Holder holder;

	private boolean known;

	private long end;

	private long longest;

	private boolean renewed;

	/**
	 * The store has said that the key is busy.
	 * @param now when its answer came, so that the lease has certainly ended when the
	 * time is over that it has left
	 */
	void told(AcquireResult busy, long now) {
		boolean same = this.known && Objects.equals(this.holder, busy.holder());
		this.renewed = same && (this.renewed || now - this.end >= 0);
		this.holder = busy.holder();
		this.known = busy.left() != null;
		if (busy.left() != null) {
			long left = Math.max(LEAST, busy.left().toNanos());
			this.longest = same ? Math.max(this.longest, left) : left;
			this.end = now + left;
		}
	}

	/**
	 * In how long to ask for the key again, {@link Long#MAX_VALUE} if no end is to be
	 * expected.
	 */
	long left(long now) {
		long left = this.end - now;
		// It is renewed when a third of it is over at the latest.
		return (this.known && !(this.renewed && left > this.longest / 2)) ? left : Long.MAX_VALUE;
	}

}
