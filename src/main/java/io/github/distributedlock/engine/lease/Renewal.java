package io.github.distributedlock.engine.lease;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.engine.lease.Lease.Moment;

/**
 * When a guarded ownership is to be renewed next. Written by one renewal round at a time.
 */
final class Renewal {

	private static final long SHORTEST_RETRY = TimeUnit.MILLISECONDS.toNanos(20);

	private static final long LONGEST_RETRY = TimeUnit.MILLISECONDS.toNanos(500);

	final Ownership ownership;

	private volatile boolean planned;

	private volatile boolean underWay;

	private volatile boolean retrying;

	private volatile long at;

	/**
	 * When the last command was sent that the store has answered with yes.
	 */
	private volatile long confirmedAt;

	/**
	 * How much earlier it may be, to share a command with others. Half of the time
	 * between two renewals: then all locks of a node come to be renewed at the same time,
	 * and stay so, however far apart they were acquired.
	 */
	private volatile long slack;

	/**
	 * How often the store has renewed the lease.
	 */
	private volatile int count;

	Renewal(Ownership ownership) {
		this.ownership = ownership;
		plan(ownership.lease().sent(), ownership.wholeLease());
	}

	/**
	 * Plans the renewal after one that was sent then. The last one ended the lease where
	 * the longest hold ends, to the millisecond, so that there is none after it.
	 */
	void plan(Moment sent, long nanos) {
		this.confirmedAt = sent.nanos();
		this.at = sent.nanos() + nanos / 3;
		this.slack = nanos / 6;
		this.retrying = false;
		this.planned = this.ownership.options().renewed()
				&& this.ownership.maxHoldLeft(sent.nanos()) - nanos >= TimeUnit.MILLISECONDS.toNanos(1);
		this.underWay = false;
	}

	/**
	 * The store has renewed the lease: plans the renewal after that.
	 */
	void renewed(Moment sent, long nanos) {
		this.count++;
		plan(sent, nanos);
	}

	/**
	 * How often the store has renewed the lease.
	 */
	int count() {
		return this.count;
	}

	/**
	 * Plans to try again soon, for the store failed.
	 */
	void retry(long now) {
		this.at = now + Math.max(SHORTEST_RETRY, Math.min(LONGEST_RETRY, this.ownership.options().lease() / 20));
		this.slack = 0;
		this.retrying = true;
		this.underWay = false;
	}

	void begin() {
		this.underWay = true;
	}

	/**
	 * Plans to try again soon what was begun and came to no end.
	 */
	void retryUnlessEnded(long now) {
		if (this.underWay) {
			retry(now);
		}
	}

	/**
	 * Whether there is one to come. There is while a request collects its keys, even if
	 * their lease is fixed.
	 */
	boolean isPlanned() {
		return this.planned || this.ownership.isCollecting();
	}

	/**
	 * Whether to renew now: it is time, the machine may have been suspended, or the store
	 * may have forgotten it.
	 * @param doubted what was sent before that, the store may have forgotten
	 */
	boolean isDue(Moment now, long doubted) {
		if (this.confirmedAt - doubted < 0) {
			return !this.underWay && (!this.retrying || this.at - now.nanos() <= 0);
		}
		return isPossible()
				&& (this.at - now.nanos() <= 0 || (!this.retrying && this.ownership.lease().isSuspect(now)));
	}

	/**
	 * Whether to renew now if another is due.
	 */
	boolean isNearlyDue(Moment now) {
		return isPossible() && this.at - now.nanos() <= this.slack;
	}

	private boolean isPossible() {
		return isPlanned() && !this.underWay;
	}

	/**
	 * How long nothing needs to be done.
	 */
	long nanosToNextEvent(Moment now) {
		long toDeadline = this.ownership.lease().monotonicLeft(now);
		return (isPossible() || this.retrying) ? Math.min(toDeadline, this.at - now.nanos()) : toDeadline;
	}

	/**
	 * The lease to ask for: trimmed to end where the longest hold ends. What is left of
	 * it, if it is not to be longer.
	 */
	Duration lease(Moment now) {
		long nanos = isPlanned() ? Math.min(this.ownership.options().lease(), this.ownership.maxHoldLeft(now.nanos()))
				: this.ownership.lease().leftOnServer(now);
		return Duration.ofMillis(Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos)));
	}

}
