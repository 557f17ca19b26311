package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * One request's hold of a key, from when it got the {@link Tenure} until it gives it back
 * or hands it on, or it is lost.
 * <p>
 * Invariants: it begins with one entry, for its first handle; re-entering counts one
 * more, unless the last one has left, and who leaves last ends it.
 */
final class Hold {

	final String key;

	final Terms terms;

	final Tenure tenure;

	/**
	 * Its place in the queue of the key, which ends with it; {@code null} if it has
	 * borrowed the key from the one whose turn it is.
	 */
	final @Nullable Turn turn;

	final OptionalLong fencingToken;

	private final EngineTime time;

	private final long acquired;

	private final AtomicInteger entries = new AtomicInteger(1);

	/**
	 * Replaced by each change.
	 */
	private volatile List<EngineHandle> handles = List.of();

	private volatile long minHold;

	Hold(Tenure tenure, @Nullable Turn turn, Terms terms, OptionalLong fencingToken, EngineTime time) {
		this.key = tenure.key;
		this.terms = terms;
		this.tenure = tenure;
		this.turn = turn;
		this.fencingToken = fencingToken;
		this.time = time;
		this.acquired = time.nanoTime();
		this.minHold = terms.minHold();
	}

	String owner() {
		return this.tenure.owner;
	}

	boolean isHeld() {
		return this.tenure.isHeldBy(this);
	}

	boolean isLost() {
		return this.tenure.isLostBy(this);
	}

	Lease lease() {
		return this.tenure.lease();
	}

	Duration held() {
		return Duration.ofNanos(this.time.nanoTime() - this.acquired);
	}

	/**
	 * For how long the key is to block others when it is given back now; 0 to free it.
	 */
	long rest() {
		long minimum = this.minHold - (this.time.nanoTime() - this.acquired);
		long expiry = this.terms.expireOnClose() ? this.tenure.leftOnServer() : 0;
		return Math.max(0, Math.max(minimum, expiry));
	}

	/**
	 * Counts one more handle, unless the last one is closed already.
	 */
	boolean reenter() {
		return this.entries.getAndUpdate((count) -> (count > 0) ? count + 1 : 0) > 0;
	}

	/**
	 * Keeps others out for at least so long from now.
	 */
	synchronized void keepAtLeast(long nanos) {
		this.minHold = Math.max(this.minHold, this.time.nanoTime() - this.acquired + nanos);
	}

	/**
	 * Counts one handle less.
	 * @return whether it was the last one
	 */
	boolean exit() {
		return this.entries.decrementAndGet() == 0;
	}

	synchronized void attach(EngineHandle handle) {
		this.handles = this.handles.isEmpty() ? List.of(handle)
				: Stream.concat(this.handles.stream(), Stream.of(handle)).toList();
	}

	synchronized void detach(EngineHandle handle) {
		this.handles = (this.handles.size() == 1) ? List.of()
				: this.handles.stream().filter((other) -> other != handle).toList();
	}

	List<EngineHandle> handles() {
		return this.handles;
	}

}
