package io.github.distributedlock.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;

import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.engine.Lease.Moment;
import org.jspecify.annotations.Nullable;

/**
 * One request's hold of a key, from when it got the {@link Ownership} until it gives it
 * back or hands it on, or it is lost.
 * <p>
 * Invariants: its depth begins with one, for its first handle; re-entering counts one
 * more, unless the last handle is closed, and the last one ends it. It is exclusive until
 * the last exclusive handle is closed before others, and shared from then on: before the
 * store is told, so that no thread re-enters exclusively what others may share. Safe for
 * use by many threads.
 */
final class Hold implements Ownership.State {

	/**
	 * What is to hear of a loss: a handle, or a request that collects its keys. Does not
	 * block and does not throw.
	 */
	interface Attached {

		/**
		 * One of its holds is lost. May be called more than once.
		 */
		void lost();

		/**
		 * The thread that the handle is bound to, {@code null} if there is none.
		 */
		@Nullable Thread thread();

	}

	/**
	 * The entry of a hold in the local queue of its key: all that a hold knows of those
	 * that wait in this JVM. Safe for use by many threads.
	 */
	interface Entry {

		/**
		 * Ends the hold and leaves its key to the next local request.
		 * @param hold the hold of this entry
		 * @return {@code false} if no local request may have the key, or the hold has
		 * lost it
		 */
		boolean handOver(Hold hold);

		/**
		 * Leaves the queue, since the hold has ended and the key is left to no local
		 * request. Only the first call has an effect.
		 */
		void leave();

	}

	private final HoldOptions options;

	private final Ownership ownership;

	private final Entry entry;

	private final OptionalLong fencingToken;

	/**
	 * Since when its request has all its keys, or, until it has, this one.
	 */
	private volatile long since;

	/**
	 * The same by the wall clock, for users: read once, so that they always see the same.
	 */
	private volatile long sinceWall;

	/**
	 * How many handles it has, or is about to. Changed only by this hold's monitor.
	 */
	private volatile int depth = 1;

	/**
	 * How many of them are exclusive: none means that it is shared, also after the end.
	 * Changed only by this hold's monitor.
	 */
	private volatile int exclusive;

	/**
	 * Whether the store is to be told that it is shared; guarded by this hold.
	 */
	private boolean downgraded;

	/**
	 * One of its handles, mostly the only one; guarded by this hold.
	 */
	private @Nullable Attached handle;

	/**
	 * The others; guarded by this hold.
	 */
	private Set<Attached> others = Set.of();

	private volatile long minHold;

	private volatile boolean expireOnClose;

	/**
	 * Creates one that has not taken its key yet.
	 * @param entry its entry in the local queue, which it leaves when it ends
	 */
	Hold(Ownership ownership, Entry entry, HoldOptions options, OptionalLong fencingToken) {
		this.options = options;
		this.ownership = ownership;
		this.entry = entry;
		this.fencingToken = fencingToken;
		this.since = ownership.time().nanoTime();
		this.sinceWall = ownership.time().wallNanos();
		this.exclusive = options.isShared() ? 0 : 1;
		this.minHold = options.minHold();
		this.expireOnClose = options.request().expireOnClose();
	}

	String key() {
		return this.ownership.key();
	}

	String owner() {
		return this.ownership.owner();
	}

	HoldOptions options() {
		return this.options;
	}

	Ownership ownership() {
		return this.ownership;
	}

	OptionalLong fencingToken() {
		return this.fencingToken;
	}

	/**
	 * Leaves the key to the next local request.
	 * @return {@code false} if there is none that may have it, or it is lost
	 */
	boolean handOver() {
		return this.entry.handOver(this);
	}

	/**
	 * Leaves the local queue, since it has ended.
	 */
	void leaveQueue() {
		this.entry.leave();
	}

	boolean isHeld() {
		return this.ownership.isHeldBy(this);
	}

	boolean isLost() {
		return this.ownership.isLostBy(this);
	}

	Lease lease() {
		return this.ownership.lease();
	}

	Duration held() {
		return Duration.ofNanos(nanosHeld());
	}

	private long nanosHeld() {
		return this.ownership.time().nanoTime() - this.since;
	}

	/**
	 * Its request has all its keys, so that a loss is one of the user's lock from now on.
	 * @param since from when all that is limited in time counts
	 * @return {@code false} if it is lost already
	 */
	boolean collected(long since) {
		long wall = this.sinceWall;
		this.sinceWall = wall + since - this.since;
		this.since = since;
		return this.ownership.collected(this, since);
	}

	/**
	 * Its request has lost another key, and collects again.
	 */
	void collect() {
		this.ownership.collect();
	}

	/**
	 * For how long the key is to block others when it is released now; 0 to free it.
	 */
	long parkTime() {
		long minimum = this.minHold - nanosHeld();
		long expiry = this.expireOnClose ? this.ownership.leftOnServer() : 0;
		return Math.max(0, Math.max(minimum, expiry));
	}

	/**
	 * Whether others may have the key beside it.
	 */
	boolean isShared() {
		return this.exclusive == 0;
	}

	/**
	 * Counts one more handle, unless the last one is closed already, or the new one is
	 * exclusive and the hold is shared.
	 */
	synchronized boolean reenter(LockMode mode) {
		boolean excludes = mode == LockMode.EXCLUSIVE;
		boolean reentered = this.depth > 0 && !(excludes && isShared());
		if (reentered) {
			this.depth++;
			this.exclusive += excludes ? 1 : 0;
		}
		return reentered;
	}

	/**
	 * For how long it can go on, as long as its requests and the store let it.
	 */
	long longest() {
		return this.options.renewed() ? this.ownership.maxHoldLeft(this.ownership.time().nanoTime())
				: this.ownership.leftOnServer();
	}

	/**
	 * Takes over the limits of a request that re-enters: the longest minimum time counts,
	 * each from its request on, and the lease is left to expire if any request wants
	 * that.
	 */
	synchronized void keep(HoldOptions asked) {
		this.minHold = Math.max(this.minHold, nanosHeld() + asked.minHold());
		this.expireOnClose |= asked.request().expireOnClose();
	}

	/**
	 * Counts one handle less, of a mode.
	 * @return whether it was the last one
	 */
	synchronized boolean exit(LockMode mode) {
		boolean last = exitUnopened();
		if (!last && mode == LockMode.EXCLUSIVE) {
			this.exclusive--;
			this.downgraded = isShared();
		}
		return last;
	}

	/**
	 * Counts one handle less, which was never opened. If it was exclusive, that counts
	 * for ever: the hold may stay exclusive longer than it has to, never shorter.
	 * @return whether it was the last one
	 */
	synchronized boolean exitUnopened() {
		this.depth--;
		return this.depth == 0;
	}

	/**
	 * Whether the store is to be told that the hold is shared. Only the first one that
	 * asks is to do that.
	 */
	synchronized boolean beginDowngrade() {
		boolean begins = this.downgraded;
		this.downgraded = false;
		return begins;
	}

	/**
	 * Whether the last handle is closed, so that it is about to be released.
	 */
	boolean isLeft() {
		return this.depth == 0;
	}

	synchronized void attach(Attached opened) {
		if (this.handle == null) {
			this.handle = opened;
			return;
		}
		if (this.others.isEmpty()) {
			this.others = new HashSet<>();
		}
		this.others.add(opened);
	}

	synchronized void detach(Attached closed) {
		if (this.handle == closed) {
			this.handle = null;
		}
		else if (!this.others.isEmpty()) {
			this.others.remove(closed);
		}
	}

	synchronized List<Attached> handles() {
		List<Attached> handles = new ArrayList<>(this.others);
		if (this.handle != null) {
			handles.add(0, this.handle);
		}
		return handles;
	}

	/**
	 * Describes it to users, with the thread that one of its handles is bound to, the
	 * first one if it can be.
	 */
	EngineSnapshot.Hold describe(Moment now) {
		String thread = handles().stream()
			.map(Attached::thread)
			.filter(Objects::nonNull)
			.map(Thread::getName)
			.findFirst()
			.orElse(null);
		return new EngineSnapshot.Hold(key(), owner(), this.options.request().name(), this.ownership.mode(),
				this.options.request().permits(), Duration.ofNanos(Math.max(0, lease().left(now))),
				Instant.ofEpochSecond(0, this.sinceWall), held(), this.ownership.renewals(), thread,
				this.fencingToken.isPresent() ? this.fencingToken.getAsLong() : null);
	}

}
