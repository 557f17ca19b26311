package io.github.distributedlock.engine.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;

import io.github.distributedlock.engine.runtime.EngineTime;
import org.jspecify.annotations.Nullable;

/**
 * One request's hold of a key, from when it got the {@link Ownership} until it gives it
 * back or hands it on, or it is lost.
 * <p>
 * Invariants: it begins with one entry, for its first handle; re-entering counts one
 * more, unless the last one has left, and the last one to leave ends it. Safe for use by
 * many threads.
 */
public final class Hold implements Ownership.State {

	private final HoldOptions options;

	private final Ownership ownership;

	private final QueuePlace place;

	private final OptionalLong fencingToken;

	private final EngineTime time;

	private final long acquired;

	/**
	 * Changed only by this hold's monitor.
	 */
	private volatile int entries = 1;

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
		this.acquired = time.nanoTime();
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

	Duration held() {
		return Duration.ofNanos(this.time.nanoTime() - this.acquired);
	}

	/**
	 * For how long the key is to block others when it is given back now; 0 to free it.
	 */
	long rest() {
		long minimum = this.minHold - (this.time.nanoTime() - this.acquired);
		long expiry = this.expireOnClose ? this.ownership.leftOnServer() : 0;
		return Math.max(0, Math.max(minimum, expiry));
	}

	/**
	 * Counts one more handle, unless the last one is closed already.
	 */
	public synchronized boolean reenter() {
		boolean reentered = this.entries > 0;
		this.entries += reentered ? 1 : 0;
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
		this.minHold = Math.max(this.minHold, this.time.nanoTime() - this.acquired + asked.minHold());
		this.expireOnClose |= asked.expireOnClose();
	}

	/**
	 * Counts one handle less.
	 * @return whether it was the last one
	 */
	public synchronized boolean exit() {
		this.entries--;
		return this.entries == 0;
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
