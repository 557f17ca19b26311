package io.github.distributedlock.engine.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.engine.lease.Lease.Moment;
import io.github.distributedlock.engine.runtime.EngineTime;
import org.jspecify.annotations.Nullable;

/**
 * One request's hold of a key, from when it got the {@link Ownership} until it gives it
 * back or hands it on, or it is lost.
 * <p>
 * Invariants: it begins with one entry, for its first handle; re-entering counts one
 * more, unless the last one has left, and the last one to leave ends it. It is exclusive
 * until the last exclusive entry has left before others, and shared from then on: before
 * the store is told, so that nobody re-enters exclusively what others may share. Safe for
 * use by many threads.
 */
public final class Hold implements Ownership.State {

	private final HoldOptions options;

	private final Ownership ownership;

	private final QueuePlace place;

	private final OptionalLong fencingToken;

	private final EngineTime time;

	/**
	 * Since when its request has all its keys, or, until it has, this one.
	 */
	private volatile Moment since;

	/**
	 * Whether its request collects other keys yet. Guarded by this hold.
	 */
	private boolean collecting;

	/**
	 * Changed only by this hold's monitor.
	 */
	private volatile int entries = 1;

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
	private @Nullable AttachedHandle handle;

	/**
	 * The others; guarded by this hold.
	 */
	private @Nullable Set<AttachedHandle> others;

	private volatile long minHold;

	private volatile boolean expireOnClose;

	/**
	 * Creates one that has not taken its key yet.
	 * @param place its place in the local queue, which it gives up when it ends
	 */
	public Hold(Ownership ownership, QueuePlace place, HoldOptions options, OptionalLong fencingToken,
			EngineTime time) {
		this.options = options;
		this.ownership = ownership;
		this.place = place;
		this.fencingToken = fencingToken;
		this.time = time;
		this.since = Moment.now(time);
		this.collecting = options.collects();
		this.exclusive = options.isShared() ? 0 : 1;
		this.minHold = options.minHold();
		this.expireOnClose = options.expireOnClose();
	}

	public String key() {
		return this.ownership.key();
	}

	public String owner() {
		return this.ownership.owner();
	}

	public HoldOptions options() {
		return this.options;
	}

	public Ownership ownership() {
		return this.ownership;
	}

	public OptionalLong fencingToken() {
		return this.fencingToken;
	}

	/**
	 * Leaves the key to the next local request.
	 * @return {@code false} if there is none that may have it, or it is lost
	 */
	boolean handOn() {
		return this.place.handOn(this);
	}

	/**
	 * Gives up its place in the local queue, since it has ended.
	 */
	public void leavePlace() {
		this.place.leave();
	}

	boolean isHeld() {
		return this.ownership.isHeldBy(this);
	}

	public boolean isLost() {
		return this.ownership.isLostBy(this);
	}

	public Lease lease() {
		return this.ownership.lease();
	}

	/**
	 * When it began, on both clocks: fixed, while the difference between them is not.
	 */
	Moment since() {
		return this.since;
	}

	Duration held() {
		return Duration.ofNanos(this.time.nanoTime() - this.since.nanos());
	}

	/**
	 * Its request has all its keys, so that a loss is one of the user's lock from now on.
	 * @param since from when all that is limited in time counts
	 * @return {@code false} if it is lost already
	 */
	public synchronized boolean collected(Moment since) {
		if (isHeld()) {
			this.since = since;
			this.ownership.collected(since.nanos());
			this.collecting = false;
		}
		return !this.collecting;
	}

	/**
	 * Its request has lost another key, and collects again.
	 */
	public synchronized void collect() {
		this.collecting = true;
		this.ownership.collect();
	}

	/**
	 * Whether a loss concerns its request only, which then collects the key again.
	 */
	synchronized boolean isCollecting() {
		return this.collecting;
	}

	/**
	 * For how long the key is to block others when it is given back now; 0 to free it.
	 */
	long rest() {
		long minimum = this.minHold - (this.time.nanoTime() - this.since.nanos());
		long expiry = this.expireOnClose ? this.ownership.leftOnServer() : 0;
		return Math.max(0, Math.max(minimum, expiry));
	}

	/**
	 * Whether others may have the key beside it.
	 */
	public boolean isShared() {
		return this.exclusive == 0;
	}

	/**
	 * Counts one more handle, unless the last one is closed already, or the new one is
	 * exclusive and the hold is shared.
	 */
	public synchronized boolean reenter(LockMode mode) {
		boolean excludes = mode == LockMode.EXCLUSIVE;
		boolean reentered = this.entries > 0 && !(excludes && isShared());
		if (reentered) {
			this.entries++;
			this.exclusive += excludes ? 1 : 0;
		}
		return reentered;
	}

	/**
	 * For how long it can go on, as long as its requests and the store let it.
	 */
	public long longest() {
		return this.options.renewed() ? this.ownership.maxHoldLeft(this.time.nanoTime())
				: this.ownership.leftOnServer();
	}

	/**
	 * Keeps the longest minimum, each from when it was asked for, and the strongest
	 * ending of all requests that it serves.
	 */
	public synchronized void keep(HoldOptions asked) {
		this.minHold = Math.max(this.minHold, this.time.nanoTime() - this.since.nanos() + asked.minHold());
		this.expireOnClose |= asked.expireOnClose();
	}

	/**
	 * Counts one handle less, of a mode.
	 * @return whether it was the last one
	 */
	public synchronized boolean exit(LockMode mode) {
		boolean last = undoEntry();
		if (!last && mode == LockMode.EXCLUSIVE) {
			this.exclusive--;
			this.downgraded = isShared();
		}
		return last;
	}

	/**
	 * Counts one entry less, for which no handle was opened. If it was exclusive, that
	 * counts for ever: the hold may stay exclusive longer than it has to, never shorter.
	 * @return whether it was the last one
	 */
	public synchronized boolean undoEntry() {
		this.entries--;
		return this.entries == 0;
	}

	/**
	 * Whether the store is to be told that the hold is shared. Only the first one that
	 * asks is to do that.
	 */
	public synchronized boolean beginDowngrade() {
		boolean begins = this.downgraded;
		this.downgraded = false;
		return begins;
	}

	/**
	 * Whether the last handle is closed, so that it is about to be given back.
	 */
	public boolean isLeft() {
		return this.entries == 0;
	}

	public synchronized void attach(AttachedHandle opened) {
		if (this.handle == null) {
			this.handle = opened;
			return;
		}
		if (this.others == null) {
			this.others = new HashSet<>();
		}
		this.others.add(opened);
	}

	public synchronized void detach(AttachedHandle closed) {
		if (this.handle == closed) {
			this.handle = null;
		}
		else if (this.others != null) {
			this.others.remove(closed);
		}
	}

	/**
	 * The thread that one of its handles is bound to, the first one if it can be.
	 */
	@Nullable Thread thread() {
		return handles().stream().map(AttachedHandle::thread).filter(Objects::nonNull).findFirst().orElse(null);
	}

	public synchronized List<AttachedHandle> handles() {
		List<AttachedHandle> handles = new ArrayList<>();
		if (this.handle != null) {
			handles.add(this.handle);
		}
		if (this.others != null) {
			handles.addAll(this.others);
		}
		return handles;
	}

}
