package io.github.distributedlock.engine.queue;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.ReleaseNotifications.Listening;
import io.github.distributedlock.engine.runtime.Backoff;
import io.github.distributedlock.engine.runtime.EngineTime;
import io.github.distributedlock.engine.runtime.Store;

/**
 * When one request that waits asks the store of its own accord. Confined to one thread at
 * a time.
 * <p>
 * When the lease ends of which the store told, since no notification comes then. While
 * wake-ups arrive, in time for a reservation whose wake-up got lost; or less often if the
 * key is granted instead, whose lease is longer than that. While they do not arrive, a
 * first time soon, and then less and less often up to the longest interval, since the
 * longer a lock is held already, the longer it may be held yet; but in time for a
 * reservation if the store keeps a place all the same. Each pause is drawn at random, so
 * that JVMs that began to wait together do not ask together.
 */
final class Polls {

	/**
	 * A notification that got lost costs at most this, or a reservation of the store.
	 */
	private static final Duration LONGEST = Duration.ofMillis(500);

	/**
	 * A notification of a grant that got lost costs at most this, or a third of the
	 * lease. A waiter must ask well within the 900 ms for which its claim counts.
	 */
	private static final long LONGEST_IF_GRANTED = TimeUnit.MILLISECONDS.toNanos(600);

	/**
	 * A request asks once more so long before its time is over, since its wake-up may
	 * have got lost: if it polled in vain, or was to wait for less than a poll.
	 */
	private static final long LAST = TimeUnit.MILLISECONDS.toNanos(50);

	/**
	 * How soon a request that keeps a place asks whether the waiter that the lock is
	 * reserved for was found dead.
	 */
	private static final long SOON = TimeUnit.MILLISECONDS.toNanos(100);

	private final Store store;

	private final Listening listening;

	private final String instance;

	private final boolean keepsPlace;

	private final long max;

	private final long inTime;

	private final long inTimeIfGranted;

	private final Backoff backoff;

	private final EngineTime time;

	private final OthersLease lease = new OthersLease();

	/**
	 * Creates them.
	 * @param claim what is waited for. A fair one has a place in the store that is lost
	 * if it is not polled for too long, so it asks as often whether it hears or not
	 * @param granted whether it is granted if the store does that
	 */
	Polls(Store store, Listening listening, PollInterval interval, Claim claim, boolean granted, EngineTime time) {
		this.store = store;
		this.listening = listening;
		this.instance = claim.instance();
		this.keepsPlace = claim.fair();
		this.time = time;
		this.max = interval.max().toNanos();
		this.inTime = store.reservation(LONGEST).toNanos();
		this.inTimeIfGranted = (granted && !claim.fair())
				? Math.max(this.inTime, Math.min(LONGEST_IF_GRANTED, claim.lease().toNanos() / 3)) : this.inTime;
		long min = interval.min().toNanos();
		this.backoff = new Backoff(min, Math.max(min, this.max / 2));
	}

	/**
	 * The store has said that the key is busy.
	 */
	void told(AcquireResult busy) {
		this.lease.told(busy, this.time.nanoTime());
	}

	/**
	 * For how long to pause now.
	 * @param wait the request's, which knows what was last heard of the lock
	 */
	long pause(Wait wait) {
		long left = wait.left();
		long pause = (this.keepsPlace && wait.sawReserved()) ? random(SOON / 2, SOON) : pause();
		pause = Math.min(pause, (left > LAST) ? left - LAST : left);
		return Math.min(pause, this.lease.left(this.time.nanoTime()));
	}

	private long pause() {
		if (this.keepsPlace || this.listening.hears()) {
			restart();
			long longest = this.store.grantsTo(this.instance) ? this.inTimeIfGranted : this.inTime;
			return random(longest * 24 / 25, longest);
		}
		long most = this.store.keepsPlacesOf(this.instance) ? Math.min(this.max, this.inTime) : this.max;
		long least = Math.min(this.backoff.next(), most);
		return random(least, Math.min(2 * least, most));
	}

	/**
	 * Begins with the shortest interval again, since something has changed.
	 */
	void restart() {
		this.backoff.reset();
	}

	private static long random(long least, long most) {
		return ThreadLocalRandom.current().nextLong(least, most + 1);
	}

}
