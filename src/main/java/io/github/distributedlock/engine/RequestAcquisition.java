package io.github.distributedlock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Semaphore;

import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.HoldOptions;
import io.github.distributedlock.engine.queue.AcquireLoop;
import io.github.distributedlock.engine.queue.Acquisition;
import io.github.distributedlock.engine.queue.Wait;
import io.github.distributedlock.engine.queue.Waker;
import org.jspecify.annotations.Nullable;

/**
 * The way of one request to all its keys, in their order: as many as possible in one
 * step, else one after the other.
 * <p>
 * Invariants: confined to one thread at a time. It has a loop exactly while it acquires
 * one key of its own. When it ends, it has a hold for each key, or has undone those that
 * it had.
 */
final class RequestAcquisition implements Acquisition {

	private final RequestAcquirer acquirer;

	private final Reentrancy reentrancy;

	private final List<String> keys;

	private final HoldOptions options;

	private final Wait wait;

	private final int era;

	private final @Nullable Waker waker;

	private final List<Hold> holds;

	private String owner;

	/**
	 * How many keys belong to the batches that were asked for in one step.
	 */
	private int batched;

	private @Nullable AcquireLoop loop;

	private boolean isBusy;

	/**
	 * Creates one.
	 * @param era when the request was made, and served
	 * @param waker the request, if no thread waits for it, else {@code null}
	 */
	RequestAcquisition(RequestAcquirer acquirer, Reentrancy reentrancy, List<String> keys, HoldOptions options,
			Wait wait, int era, @Nullable Waker waker) {
		this.acquirer = acquirer;
		this.reentrancy = reentrancy;
		this.keys = keys;
		this.options = options;
		this.wait = wait;
		this.era = era;
		this.waker = waker;
		this.holds = new ArrayList<>(keys.size());
		this.owner = acquirer.instance.nextOwner();
	}

	/**
	 * Takes the place in the local queue of the request's only key, so that requests are
	 * served in the order in which they were made. Does not wait, and asks nothing.
	 */
	void queueUp() {
		if (this.keys.size() == 1) {
			begin(key());
		}
	}

	/**
	 * Which key it sees to, or will next.
	 */
	String key() {
		return this.keys.get(Math.min(this.holds.size(), this.keys.size() - 1));
	}

	/**
	 * The owner token of the holds that were acquired last.
	 */
	String owner() {
		return this.owner;
	}

	/**
	 * What came of it: a hold for each key, or {@code null} if one was busy.
	 */
	@Nullable List<Hold> holds() {
		return isComplete() ? this.holds : null;
	}

	private boolean isComplete() {
		return this.holds.size() == this.keys.size();
	}

	@Override
	public long goOn(boolean signalled) throws InterruptedException {
		AcquireLoop loop = this.loop;
		if (loop == null && !this.isBusy) {
			loop = next();
		}
		if (loop != null) {
			long pause = loop.goOn(signalled);
			if (pause != ENDED) {
				return pause;
			}
			take(loop);
		}
		return (this.isBusy || isComplete()) ? ENDED : NEXT_KEY;
	}

	/**
	 * Begins with what comes next.
	 * @return the loop for a key of its own, or {@code null} if there is none: many were
	 * acquired, or one re-entered, or is busy
	 */
	private @Nullable AcquireLoop next() {
		int from = this.holds.size();
		if (from == this.batched && this.keys.size() > 1) {
			this.acquirer.lifecycle.requireServed(this.era, key());
			this.batched = Math.min(from + LockBackend.MAX_BATCH_SIZE, this.keys.size());
			if (acquireJointly(this.keys.subList(from, this.batched))) {
				return null;
			}
			// The other may be cleaned up yet.
			this.owner = this.acquirer.instance.nextOwner();
		}
		String key = key();
		Hold outer = (this.keys.size() > 1) ? this.reentrancy.reenter(key, this.options) : null;
		if (outer != null) {
			this.holds.add(outer);
			return null;
		}
		return begin(key);
	}

	private @Nullable AcquireLoop begin(String key) {
		this.loop = this.acquirer.keyAcquirer.begin(key, this.owner, this.options, this.wait, this.era, this.waker);
		this.isBusy = this.loop == null;
		return this.loop;
	}

	private boolean acquireJointly(List<String> keys) {
		if (this.reentrancy.holdsAny(keys)) {
			return false; // Some have to be re-entered.
		}
		List<Hold> joint = this.acquirer.multiKeyAcquirer.acquire(keys, this.owner, this.options, this.wait, this.era);
		return joint != null && this.holds.addAll(joint);
	}

	private void take(AcquireLoop loop) {
		Hold hold = loop.hold();
		if (hold != null) {
			this.holds.add(hold);
		}
		this.isBusy = hold == null;
		this.loop = null;
		loop.end();
	}

	@Override
	public boolean mayAsk(boolean signalled) {
		return (this.loop != null) ? this.loop.mayAsk(signalled) : !this.isBusy && this.wait.mayAsk();
	}

	@Override
	public Semaphore signal() {
		return Objects.requireNonNull(this.loop, "loop").signal();
	}

	@Override
	public void end() {
		AcquireLoop loop = this.loop;
		this.loop = null;
		try {
			if (loop != null) {
				loop.end();
			}
		}
		finally {
			if (!isComplete()) {
				this.acquirer.undo(this.holds);
			}
			else if (this.keys.size() > 1) {
				this.holds.forEach((hold) -> hold.keep(this.options));
			}
		}
	}

}
