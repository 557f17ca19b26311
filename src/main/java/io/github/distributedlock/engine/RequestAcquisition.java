package io.github.distributedlock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Semaphore;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.lease.AttachedHandle;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.HoldOptions;
import io.github.distributedlock.engine.lease.Lease.Moment;
import io.github.distributedlock.engine.lease.LossHandler;
import io.github.distributedlock.engine.queue.AcquireLoop;
import io.github.distributedlock.engine.queue.Acquisition;
import io.github.distributedlock.engine.queue.Wait;
import io.github.distributedlock.engine.queue.Waker;
import io.github.distributedlock.engine.runtime.Backoff;
import io.github.distributedlock.engine.runtime.Failures;
import io.github.distributedlock.engine.runtime.Text;
import io.github.distributedlock.engine.runtime.Undo;
import org.jspecify.annotations.Nullable;

/**
 * The way of one request to all its keys, in their order: as many as possible in one
 * step, else one after the other.
 *
 * <pre>
 * collects ──► has all ──► handed out
 *    ▲            │ ▲ renews them if a fixed lease is to begin, or less than
 *    │            └─┘ half of one is left
 *    └── a loss: gives back what comes after the lost key
 * </pre>
 *
 * Invariants: confined to one thread at a time, but for {@link #lost}. It has a loop
 * exactly while it acquires one key of its own. What it has are the first keys in the
 * order, so that requests do not wait for each other in a circle. An owner token is not
 * used again for a key that was lost or given back: what undoes that may be under way.
 * When it ends, all its keys are held, each with at least half of its lease if it is not
 * alone or re-entered, or it has undone what it had.
 */
final class RequestAcquisition implements Acquisition, AttachedHandle {

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
	 * Whether the leases of all keys of its own count from the same moment.
	 */
	private boolean isLeaseCommon;

	/**
	 * Why the last renewal failed, and the pauses between those.
	 */
	private @Nullable LockBackendException failure;

	private @Nullable Backoff retries;

	private boolean isHandedOut;

	/**
	 * Whether a hold was lost since it was last looked for one. Written before the signal
	 * is read, which is written before this is read: so no loss is slept through.
	 */
	private volatile boolean lossHeard;

	private volatile @Nullable Semaphore signal;

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
		if (!isCollecting()) {
			begin(key());
		}
	}

	private boolean isCollecting() {
		return this.keys.size() > 1;
	}

	/**
	 * Which key it sees to, or will next.
	 */
	String key() {
		return this.keys.get(Math.min(this.holds.size(), this.keys.size() - 1));
	}

	/**
	 * The owner token of its handle: that of the first key.
	 */
	String owner() {
		return this.holds.get(0).owner();
	}

	/**
	 * What came of it: a hold for each key, or {@code null} if one was busy.
	 */
	@Nullable List<Hold> holds() {
		return this.isHandedOut ? this.holds : null;
	}

	private boolean isComplete() {
		return this.holds.size() == this.keys.size();
	}

	@Override
	public long goOn(boolean signalled) throws InterruptedException {
		if (hasGoneBack()) {
			return NEXT_KEY;
		}
		if (isComplete()) {
			return renew();
		}
		AcquireLoop loop = this.loop;
		if (loop == null && !this.isBusy) {
			loop = next();
		}
		if (loop != null) {
			long pause = loop.goOn(signalled);
			if (pause != ENDED) {
				return await(loop.signal(), pause);
			}
			take(loop);
		}
		return (this.isBusy || (isComplete() && handOut(Moment.now(this.acquirer.time)))) ? ENDED : NEXT_KEY;
	}

	private long await(Semaphore signal, long pause) {
		this.signal = signal;
		return hasGoneBack() ? NEXT_KEY : pause;
	}

	/**
	 * A hold is lost: called by any thread, and perhaps of one that was given back.
	 */
	@Override
	public void lost() {
		this.lossHeard = true;
		Semaphore signal = this.signal;
		if (signal != null) {
			signal.release();
		}
		if (this.waker != null) {
			this.waker.wake();
		}
	}

	@Override
	public @Nullable Thread thread() {
		return null;
	}

	/**
	 * Gives up what it waits for, and what comes after the first key that was lost, if
	 * any was. Asks nothing.
	 * @throws LockLostException if one was lost that had been re-entered
	 */
	private boolean hasGoneBack() {
		if (!this.lossHeard) {
			return false;
		}
		this.lossHeard = false;
		int first = this.holds.size();
		for (int i = first - 1; i >= 0; i--) {
			Hold hold = this.holds.get(i);
			if (!this.acquirer.lossHandler.isStillHeld(hold)) {
				if (!isOwn(hold)) {
					throw LossHandler.lost(hold, this.keys);
				}
				first = i;
			}
		}
		if (first == this.holds.size()) {
			return false;
		}
		List<Hold> after = this.holds.subList(first, this.holds.size());
		List<Hold> given = List.copyOf(after);
		after.clear();
		own().forEach(Hold::collect);
		this.batched = first;
		this.isLeaseCommon = false;
		this.owner = this.acquirer.instance.nextOwner();
		Undo.ifFails(this::endLoop, () -> giveBack(given));
		giveBack(given);
		return true;
	}

	private boolean isOwn(Hold hold) {
		return hold.options() == this.options;
	}

	private List<Hold> own() {
		return this.holds.stream().filter(this::isOwn).toList();
	}

	private void giveBack(List<Hold> holds) {
		holds.forEach((hold) -> hold.detach(this));
		this.acquirer.giveBack(holds, this.options);
	}

	/**
	 * Begins with what comes next.
	 * @return the loop for a key of its own, or {@code null} if there is none: many were
	 * acquired, or one re-entered, or is busy
	 */
	private @Nullable AcquireLoop next() {
		int from = this.holds.size();
		if (from == this.batched && isCollecting()) {
			this.acquirer.lifecycle.requireServed(this.era, key());
			this.batched = Math.min(from + LockBackend.MAX_BATCH_SIZE, this.keys.size());
			if (acquireJointly(this.keys.subList(from, this.batched))) {
				this.isLeaseCommon = from == 0;
				return null;
			}
			// The other may be cleaned up yet.
			this.owner = this.acquirer.instance.nextOwner();
		}
		String key = key();
		Hold outer = isCollecting() ? this.reentrancy.reenter(key, this.options) : null;
		if (outer != null) {
			add(outer);
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
		if (joint != null) {
			joint.forEach(this::add);
		}
		return joint != null;
	}

	private void take(AcquireLoop loop) {
		Hold hold = loop.hold();
		if (hold != null) {
			this.isLeaseCommon = false;
			add(hold);
		}
		this.isBusy = hold == null;
		this.loop = null;
		loop.end();
	}

	private void add(Hold hold) {
		this.holds.add(hold);
		if (isCollecting()) {
			hold.attach(this);
			if (hold.isLost()) {
				this.lossHeard = true;
			}
		}
	}

	/**
	 * Renews all keys of its own, and hands them out if that was done in time. A fixed
	 * lease, and the request's limits, count from then on.
	 */
	private long renew() {
		LockBackendException failure = this.failure;
		this.acquirer.lifecycle.requireServed(this.era, this.keys.get(0));
		if (failure != null && this.wait.left() <= 0) {
			throw Failures.inAllThatTime(this.keys.get(0), this.wait.waited(), failure);
		}
		this.failure = null;
		List<Hold> own = own();
		Moment since = Moment.now(this.acquirer.time);
		if (!this.options.renewed()) {
			own.forEach((hold) -> hold.ownership().collected(since.nanos()));
		}
		try {
			this.acquirer.extender.renew(own);
			this.isLeaseCommon = true;
		}
		catch (LockBackendException ex) {
			if (!ex.isRetryable() || !this.wait.isAllowed()) {
				throw ex;
			}
			own.forEach(Hold::collect);
			this.failure = ex;
			return pause();
		}
		this.acquirer.lifecycle.requireServed(this.era, this.keys.get(0));
		if (handOut(since)) {
			return ENDED;
		}
		if (!this.lossHeard && this.wait.left() <= 0) {
			throw LockBackendException
				.of("Lock " + LockException.printable(this.keys) + " was acquired, but the answers took longer than"
						+ " half of the lease of " + Text.of(this.options.lease()))
				.remedy("choose a longer lease")
				.retryable(true)
				.build();
		}
		return this.lossHeard ? NEXT_KEY : pause();
	}

	private long pause() {
		if (this.retries == null) {
			this.retries = Backoff.ofRequests();
		}
		return await(new Semaphore(0), Math.max(0, Math.min(this.retries.next(), this.wait.left())));
	}

	/**
	 * Hands the keys out, unless one is lost, or they have to be renewed before.
	 */
	private boolean handOut(Moment since) {
		this.isHandedOut = !isCollecting() || (areLeasesLongEnough() && areCollected(since));
		return this.isHandedOut;
	}

	private boolean areLeasesLongEnough() {
		Moment now = Moment.now(this.acquirer.time);
		return (this.options.renewed() || this.isLeaseCommon) && this.holds.stream()
			.allMatch((hold) -> !isOwn(hold) || hold.lease().left(now) >= this.options.lease() / 2);
	}

	private boolean areCollected(Moment since) {
		// All are looked at first: what is lost once one is collected is told to users.
		boolean collected = this.holds.stream().allMatch(this.acquirer.lossHandler::isStillHeld)
				&& own().stream().allMatch((hold) -> hold.collected(since));
		if (!collected) {
			own().forEach(Hold::collect);
			this.lossHeard = true;
		}
		return collected;
	}

	@Override
	public boolean mayAsk(boolean signalled) {
		if (this.loop != null) {
			return this.loop.mayAsk(signalled);
		}
		return isComplete() || (!this.isBusy && this.wait.mayAsk());
	}

	@Override
	public Semaphore signal() {
		return Objects.requireNonNull(this.signal, "signal");
	}

	@Override
	public void end() {
		try {
			endLoop();
		}
		finally {
			if (!this.isHandedOut) {
				giveBack(this.holds);
			}
			else if (isCollecting()) {
				for (Hold hold : this.holds) {
					hold.detach(this);
					if (!isOwn(hold)) {
						hold.keep(this.options);
					}
				}
			}
		}
	}

	private void endLoop() {
		AcquireLoop loop = this.loop;
		this.loop = null;
		if (loop != null) {
			loop.end();
		}
	}

}
