package io.github.distributedlock.engine;

import java.time.Duration;

import io.github.distributedlock.backend.Attempt;
import io.github.distributedlock.backend.LockBackend;
import org.jspecify.annotations.Nullable;

/**
 * The patience of one request: one deadline for the local queue, the store and every
 * retry. Confined to the requesting thread.
 */
final class Wait {

	private final EngineTime time;

	private final long start;

	private final long limit;

	private boolean asked;

	private boolean busy;

	private @Nullable String holder;

	Wait(EngineTime time, Duration limit) {
		this.time = time;
		this.start = time.nanoTime();
		this.limit = limit.toNanos();
	}

	/**
	 * Whether the request may wait at all, or only make one attempt.
	 */
	boolean isAllowed() {
		return this.limit > 0;
	}

	boolean isOver() {
		return left() <= 0;
	}

	/**
	 * Whether another command may start. The first one may, however late it is, so that
	 * nobody is told anything of a lock that was not asked for.
	 */
	boolean mayAsk() {
		return mayBeLate() || !isOver();
	}

	/**
	 * Whether the next command may start when the time is over.
	 */
	boolean mayBeLate() {
		return !isAllowed() || !this.asked;
	}

	/**
	 * To be called before a command is sent.
	 */
	void asking() {
		this.asked = true;
	}

	/**
	 * Whether the last thing that the store said is that a key is busy.
	 */
	boolean isBusy() {
		return this.busy;
	}

	long left() {
		return this.limit - (this.time.nanoTime() - this.start);
	}

	Duration limit() {
		return Duration.ofNanos(this.limit);
	}

	Duration waited() {
		return Duration.ofNanos(this.time.nanoTime() - this.start);
	}

	/**
	 * Whether, when last heard of, the lock was held by nobody, but kept for another.
	 */
	boolean sawReserved() {
		return this.holder != null && this.holder.startsWith(LockBackend.RESERVED);
	}

	@Nullable String holder() {
		return this.holder;
	}

	/**
	 * The store has answered.
	 */
	void heard(Attempt attempt) {
		this.busy = !attempt.acquired();
		this.holder = attempt.holder();
	}

}
