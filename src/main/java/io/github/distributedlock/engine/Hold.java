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
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.ReleaseOn;
import io.github.distributedlock.engine.Lease.Moment;
import org.jspecify.annotations.Nullable;

/**
 * One request's hold of a key, from the moment at which the request got the
 * {@link Ownership} until the request gives the key back or hands the key on, or the key
 * is lost.
 * <p>
 * Invariants: the depth of a hold begins with one, for the first handle. Re-entering
 * counts one more, unless the last handle is closed. Closing the last handle ends the
 * hold. A hold is exclusive until its last exclusive handle is closed before others, and
 * shared from then on: before the store is told, so that no thread re-enters exclusively
 * what others may share. Safe for use by many threads.
 */
final class Hold implements Ownership.Possession {

	/**
	 * A handle, or a request that collects its keys, which is to hear of the loss of a
	 * hold. Does not block and does not throw.
	 */
	interface Attached {

		/**
		 * Takes notice that one of the holds is lost. May be called more than once.
		 */
		void lost();

		/**
		 * Returns the thread that the handle is bound to, {@code null} if there is none.
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
		 * lost the key
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
	 * The moment on the monotonic clock at which the request of this hold got all its
	 * keys, or, until then, this key.
	 */
	private volatile long since;

	/**
	 * The same moment on the wall clock, for users: read once, so that users always see
	 * the same moment.
	 */
	private volatile long sinceWall;

	/**
	 * The number of handles that this hold has, or is about to have. Changed only under
	 * this hold's monitor.
	 */
	private volatile int depth = 1;

	/**
	 * The number of handles that are exclusive. With 0 the hold is shared, also after its
	 * end. Changed only under this hold's monitor.
	 */
	private volatile int exclusive;

	/**
	 * {@code true} if the store has yet to be told that the hold is shared; guarded by
	 * this hold.
	 */
	private boolean downgraded;

	/**
	 * One handle of this hold, mostly the only one; guarded by this hold.
	 */
	private @Nullable Attached handle;

	/**
	 * The other handles of this hold; guarded by this hold.
	 */
	private Set<Attached> others = Set.of();

	private volatile long minHold;

	private volatile boolean expireOnClose;

	/**
	 * {@code true} once listeners were told of the hold, and so hear of its end.
	 */
	private volatile boolean announced;

	/**
	 * Creates a hold that has not taken its key yet.
	 * @param entry the entry in the local queue, which the hold leaves when the hold ends
	 */
	Hold(Ownership ownership, Entry entry, HoldOptions options, OptionalLong fencingToken) {
		this.options = options;
		this.ownership = ownership;
		this.entry = entry;
		this.fencingToken = fencingToken;
		this.since = ownership.time().nanoTime();
		this.sinceWall = ownership.time().wallNanos();
		this.exclusive = options.isShared() ? 0 : 1;
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

	@Override
	public LockRequest request() {
		return this.options.request();
	}

	@Override
	public LockMode mode() {
		return isShared() ? LockMode.SHARED : this.options.mode();
	}

	Ownership ownership() {
		return this.ownership;
	}

	OptionalLong fencingToken() {
		return this.fencingToken;
	}

	/**
	 * Leaves the key to the next local request.
	 * @return {@code false} if no local request may have the key, or the key is lost
	 */
	boolean handOver() {
		return this.entry.handOver(this);
	}

	@Override
	public void leaveQueue() {
		this.entry.leave();
	}

	boolean isHeld() {
		return this.ownership.isHeldBy(this);
	}

	boolean isLost() {
		return this.ownership.isLostBy(this);
	}

	/**
	 * Returns whether the key is lost, and may be ours in the store yet: a clock that was
	 * set forward, for instance, ends the lease here alone.
	 */
	boolean isLostHereOnly() {
		return isLost() && !ForcedReleases.isGone(this.ownership.lossReason());
	}

	Lease lease() {
		return this.ownership.lease();
	}

	@Override
	public Duration held() {
		return Duration.ofNanos(nanosHeld());
	}

	private long nanosHeld() {
		return this.ownership.time().nanoTime() - this.since;
	}

	/**
	 * Takes notice that the request has all its keys, so that a loss is one of the user's
	 * lock from now on.
	 * @param since the moment from which all that is limited in time counts
	 * @return {@code false} if the key is lost already
	 */
	boolean collected(long since) {
		long wall = this.sinceWall;
		this.sinceWall = wall + since - this.since;
		this.since = since;
		return this.ownership.collected(this, since);
	}

	/**
	 * Takes notice that the request has lost another key, and collects again.
	 */
	void collect() {
		this.ownership.collect();
	}

	/**
	 * Returns for how long, in nanoseconds, the key is to block others when the hold is
	 * released now; 0 to free the key, as after a hold that nobody has used.
	 */
	long parkTime() {
		long minimum = this.minHold - nanosHeld();
		long expiry = this.expireOnClose ? this.ownership.leftOnServer() : 0;
		return Math.max(0, Math.max(minimum, expiry));
	}

	/**
	 * Takes note that listeners hear of the hold, and so are to hear of its end.
	 */
	void announce() {
		this.announced = true;
	}

	boolean isAnnounced() {
		return this.announced;
	}

	/**
	 * Returns whether others may have the key beside this hold.
	 */
	boolean isShared() {
		return this.exclusive == 0;
	}

	/**
	 * Counts one more handle, unless the last handle is closed already, or the new handle
	 * is exclusive and the hold is shared.
	 * @return whether the handle was counted
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
	 * Returns for how long, in nanoseconds, the hold can go on, as long as its requests
	 * and the store allow.
	 */
	long longest() {
		return this.options.renewed() ? this.ownership.maxHoldLeft(this.ownership.time().nanoTime())
				: this.ownership.leftOnServer();
	}

	/**
	 * Counts one handle less, and takes over what its request has asked for. The longest
	 * minimum time counts, each from the opening of its handle. The lease is left to
	 * expire if any request wants that.
	 * @param opened when the handle was opened; not needed without a minimum time
	 * @return whether the handle was the last one
	 */
	synchronized boolean exit(HoldOptions asked, long opened) {
		if (asked.minHold() > 0) {
			this.minHold = Math.max(this.minHold, opened - this.since + asked.minHold());
		}
		this.expireOnClose |= asked.request().releaseOn() == ReleaseOn.EXPIRY;
		boolean last = exitUnopened();
		if (!last && asked.mode() == LockMode.EXCLUSIVE) {
			this.exclusive--;
			this.downgraded = isShared();
		}
		return last;
	}

	/**
	 * Counts one handle less, which was never opened. If the handle was exclusive, the
	 * count of exclusive handles keeps counting that handle for ever: the hold may stay
	 * exclusive longer than necessary, never shorter.
	 * @return whether the handle was the last one
	 */
	synchronized boolean exitUnopened() {
		this.depth--;
		return this.depth == 0;
	}

	/**
	 * Returns whether the store is to be told that the hold is shared. Only the first
	 * caller that gets {@code true} is to tell the store.
	 */
	synchronized boolean beginDowngrade() {
		boolean begins = this.downgraded;
		this.downgraded = false;
		return begins;
	}

	@Override
	public boolean isLeft() {
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

	@Override
	public void lost() {
		handles().forEach(Attached::lost);
	}

	synchronized List<Attached> handles() {
		List<Attached> handles = new ArrayList<>(this.others);
		if (this.handle != null) {
			handles.add(0, this.handle);
		}
		return handles;
	}

	/**
	 * Describes the hold to users, with the thread of the first handle that is bound to
	 * one.
	 */
	EngineSnapshot.Hold describe(Moment now) {
		String thread = handles().stream()
			.map(Attached::thread)
			.filter(Objects::nonNull)
			.map(Thread::getName)
			.findFirst()
			.orElse(null);
		return new EngineSnapshot.Hold(key(), owner(), request().name(), mode(), request().permits(),
				Duration.ofNanos(Math.max(0, lease().left(now))), Instant.ofEpochSecond(0, this.sinceWall), held(),
				this.ownership.renewals(), thread,
				this.fencingToken.isPresent() ? this.fencingToken.getAsLong() : null);
	}

}
