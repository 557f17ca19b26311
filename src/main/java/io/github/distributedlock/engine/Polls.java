package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackend.Listening;
import org.jspecify.annotations.Nullable;

/**
 * Decides when a waiting request polls the store. Confined to one thread at a time.
 * <p>
 * A request polls when the lease ends that the store has reported, since no notification
 * comes then. While notifications arrive, the request polls in time for a reservation
 * whose notification was lost. If the key is granted instead, the request polls less
 * often, since a grant lasts longer than a reservation.
 * <p>
 * While notifications do not arrive, the pauses grow with the time for which nothing has
 * changed, up to the longest interval: the longer a lock has been held, the longer it may
 * still be held. If the store says how many waiters come first, a pause is a quarter of
 * the time for which the request has had its place, times one more than the number of
 * these waiters. So a waiter that was the next one all the time of a hold notices the
 * release after a quarter of the hold, at most. Until the pauses reach the longest
 * interval, n waiters together ask hardly more often than the first few of them.
 * Otherwise nobody knows who is next, and a pause is as long as the request has waited
 * already. If the store keeps a place, the request polls in time for a reservation. Each
 * pause is drawn at random, so that JVMs that began to wait together do not poll
 * together.
 * <p>
 * The store reports the lease of a held lock again and again. If that lease is shorter
 * than the pause between two polls, the reported end passes although the lease is
 * renewed. From then on an end counts only if it is nearer than the end of a lease that
 * is renewed in time ever is. So a held lock costs no more questions than the polls,
 * except for one.
 */
final class Polls {

	/**
	 * The settings of an engine for its polls.
	 *
	 * @param listening tells whether release notifications arrive
	 * @param min the least interval while they do not, and the place is not known
	 * @param max the greatest interval while they do not
	 */
	record Settings(LockBackend backend, Listening listening, Duration min, Duration max) {
	}

	/**
	 * A notification of a grant that got lost costs at most this, or a third of the
	 * lease. A waiter must ask well within the 900 ms for which its claim counts.
	 */
	private static final long LONGEST_IF_GRANTED = TimeUnit.MILLISECONDS.toNanos(600);

	/**
	 * A request asks once more so long before its time is over, since its notification
	 * may have got lost. The request does so after a poll in vain, or if the whole wait
	 * was to be shorter than a pause between polls.
	 */
	private static final long LAST = TimeUnit.MILLISECONDS.toNanos(50);

	/**
	 * The time in which a request that keeps a place asks whether the waiter that the
	 * lock is reserved for was found dead.
	 */
	private static final long SOON = TimeUnit.MILLISECONDS.toNanos(100);

	/**
	 * The shortest remaining time that counts, and the shortest pause of the waiter that
	 * is next. Keeps a store that reports no remaining time at all from being asked all
	 * the time.
	 */
	private static final long LEAST = TimeUnit.MILLISECONDS.toNanos(1);

	private final Settings settings;

	private final EngineTime time;

	private final Claim claim;

	private final long inTime;

	private final long inTimeIfGranted;

	/**
	 * Since when nothing has changed.
	 */
	private long since;

	/**
	 * How many waiters come first, {@code null} if not known.
	 */
	private @Nullable Integer ahead;

	/**
	 * The holder of the key, {@code null} if not known. {@link #end} says when the lease
	 * of that holder ends, if {@link #endIsKnown}.
	 */
	private @Nullable Holder holder;

	private boolean endIsKnown;

	private long end;

	private long longestLease;

	private boolean isRenewed;

	/**
	 * Creates the polls of one claim.
	 * @param claim the claim that waits. A fair claim has a place in the store that is
	 * lost without a poll for too long, so a fair claim asks as often whether
	 * notifications arrive or not, unless the store keeps the place without notifications
	 * @param granted whether the claim accepts a grant, if the store grants
	 */
	Polls(Settings settings, Claim claim, boolean granted, EngineTime time) {
		this.settings = settings;
		this.time = time;
		this.claim = claim;
		this.inTime = settings.backend.reservation().toNanos();
		this.inTimeIfGranted = (granted && !claim.fair())
				? Math.max(this.inTime, Math.min(LONGEST_IF_GRANTED, claim.lease().toNanos() / 3)) : this.inTime;
		restart();
	}

	/**
	 * Takes note that the store has just answered that the key is busy. When the
	 * remaining time in the answer is over, that lease has certainly ended, unless it was
	 * renewed.
	 */
	void busy(AcquireResult answer) {
		long now = this.time.nanoTime();
		if (!Objects.equals(this.ahead, answer.ahead())) {
			this.ahead = answer.ahead();
			restart();
		}
		boolean same = this.endIsKnown && Objects.equals(this.holder, answer.holder());
		this.isRenewed = same && (this.isRenewed || now - this.end >= 0);
		this.holder = answer.holder();
		this.endIsKnown = answer.remaining() != null;
		if (answer.remaining() != null) {
			long left = Math.max(LEAST, answer.remaining().toNanos());
			this.longestLease = same ? Math.max(this.longestLease, left) : left;
			this.end = now + left;
		}
	}

	/**
	 * Returns for how long to pause now, in nanoseconds.
	 * @param wait the wait of the request, which knows what was last heard of the lock
	 */
	long pause(Wait wait) {
		long left = wait.left();
		long pause = (this.claim.fair() && wait.isReserved()) ? Math.min(random(SOON), pause()) : pause();
		pause = Math.min(pause, (left > LAST) ? left - LAST : left);
		long leaseLeft = this.end - this.time.nanoTime();
		// A lease is renewed after a third of its length at the latest.
		boolean ends = this.endIsKnown && !(this.isRenewed && leaseLeft > this.longestLease / 2);
		return ends ? Math.min(pause, leaseLeft) : pause;
	}

	private long pause() {
		LockBackend backend = this.settings.backend;
		boolean keepsPlace = backend.keepsPlacesOf(this.claim.instance());
		if (this.settings.listening.hears() || (this.claim.fair() && !keepsPlace)) {
			long heard = random(backend.grantsTo(this.claim.instance()) ? this.inTimeIfGranted : this.inTime);
			// The pauses begin anew after this one if notifications stop.
			this.since = this.time.nanoTime() + heard;
			return heard;
		}
		long max = this.settings.max.toNanos();
		long unchanged = this.time.nanoTime() - this.since;
		Integer ahead = this.ahead;
		long pause = (keepsPlace && ahead != null) ? (ahead + 1) * Math.max(LEAST, unchanged / 4)
				: Math.max(this.settings.min.toNanos(), unchanged);
		return random(Math.min(pause, keepsPlace ? Math.min(max, this.inTime) : max));
	}

	/**
	 * Begins with the shortest pause again, since something has changed.
	 */
	void restart() {
		this.since = this.time.nanoTime();
	}

	private static long random(long longest) {
		return ThreadLocalRandom.current().nextLong(longest * 24 / 25, longest + 1);
	}

}
