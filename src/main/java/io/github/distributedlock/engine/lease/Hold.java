package io.github.distributedlock.engine.lease;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.engine.queue.QueueNode;
import io.github.distributedlock.engine.runtime.EngineTime;
import org.jspecify.annotations.Nullable;

/**
 * One request's hold of a key, from when it got the {@link Ownership} until it gives it
 * back or hands it on, or it is lost.
 * <p>
 * Invariants: it begins with one entry, for its first handle; re-entering counts one
 * more, unless the last one has left, and who leaves last ends it.
 */
public final class Hold {

	public final String key;

	public final HoldOptions options;

	public final Ownership ownership;

	/**
	 * Its place in the queue of the key, which ends with it; {@code null} if it has
	 * borrowed the key from the one whose turn it is.
	 */
	public final @Nullable QueueNode node;

	public final OptionalLong fencingToken;

	private final EngineTime time;

	private final long acquired;

	private final AtomicInteger entries = new AtomicInteger(1);

	/**
	 * That of one of its handles, mostly the only one; guarded by this hold.
	 */
	private @Nullable LossCallback callback;

	/**
	 * The others; guarded by this hold.
	 */
	private @Nullable Set<LossCallback> others;

	private volatile long minHold;

	private volatile boolean expireOnClose;

	public Hold(Ownership ownership, @Nullable QueueNode node, HoldOptions options, OptionalLong fencingToken,
			EngineTime time) {
		this.key = ownership.key;
		this.options = options;
		this.ownership = ownership;
		this.node = node;
		this.fencingToken = fencingToken;
		this.time = time;
		this.acquired = time.nanoTime();
		this.minHold = options.minHold();
		this.expireOnClose = options.expireOnClose();
	}

	public String owner() {
		return this.ownership.owner;
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
	public boolean reenter() {
		return this.entries.getAndUpdate((count) -> (count > 0) ? count + 1 : 0) > 0;
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
	public boolean exit() {
		return this.entries.decrementAndGet() == 0;
	}

	/**
	 * Whether the last handle is closed, so that it is about to be given back.
	 */
	boolean isLeft() {
		return this.entries.get() == 0;
	}

	public synchronized void attach(LossCallback opened) {
		if (this.callback == null) {
			this.callback = opened;
			return;
		}
		if (this.others == null) {
			this.others = new HashSet<>();
		}
		this.others.add(opened);
	}

	public synchronized void detach(LossCallback closed) {
		if (this.callback == closed) {
			this.callback = null;
		}
		else if (this.others != null) {
			this.others.remove(closed);
		}
	}

	public synchronized List<LossCallback> lossCallbacks() {
		List<LossCallback> callbacks = new ArrayList<>();
		if (this.callback != null) {
			callbacks.add(this.callback);
		}
		if (this.others != null) {
			callbacks.addAll(this.others);
		}
		return callbacks;
	}

}
