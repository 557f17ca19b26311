package io.github.distributedlock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.engine.Lease.Moment;
import io.github.distributedlock.engine.Wait.Acquisition;
import org.jspecify.annotations.Nullable;

/**
 * Acquires all keys of one request, one after the other, in their order. Keys that the
 * requester holds already are re-entered.
 *
 * <pre>
 * collects ──► has all ──► handed out
 *    ▲            │ ▲ renews them if a fixed lease is to begin, or less than
 *    │            └─┘ half of one is left
 *    └── a loss: releases what comes after the lost key
 * </pre>
 *
 * Invariants: confined to one thread at a time, but for {@link #lost}. The request has a
 * {@link KeyAcquisition} exactly while acquiring one key of its own. The keys that the
 * request has are the first ones in the order, so that requests do not wait for each
 * other in a circle. An owner token is not used again for a key that was lost or
 * released: the command that undoes the old claim may be under way. When the acquisition
 * ends, either all keys are held, or the acquisition has undone what the request had. In
 * the first case each key that is not re-entered has at least half of its lease left.
 */
final class RequestAcquisition implements Acquisition, Hold.Attached {

	private final KeyAcquisition.Factory engine;

	private final Reentrancy reentrancy;

	private final List<String> keys;

	private final HoldOptions options;

	private final Wait wait;

	private final int era;

	private final List<Hold> holds;

	private String owner;

	private @Nullable KeyAcquisition current;

	private boolean isBusy;

	/**
	 * True if the leases of all keys of the request's own count from the same moment.
	 */
	private boolean isLeaseCommon;

	/**
	 * The failure of the last renewal; {@code null} if there was none.
	 */
	private @Nullable LockBackendException failure;

	private boolean isHandedOut;

	/**
	 * True if a hold was lost since the last check. A loss writes this field and then
	 * reads the signal; a wait writes the signal and then reads this field. So no loss is
	 * missed while waiting.
	 */
	private volatile boolean lossPending;

	private volatile @Nullable Semaphore signal;

	private RequestAcquisition(KeyAcquisition.Factory engine, Reentrancy reentrancy, List<String> keys,
			HoldOptions options, Wait wait, int era) {
		this.engine = engine;
		this.reentrancy = reentrancy;
		this.keys = keys;
		this.options = options;
		this.wait = wait;
		this.era = era;
		this.holds = new ArrayList<>(keys.size());
		this.owner = engine.instance().nextOwner();
	}

	/**
	 * Begins to acquire the keys of a request. Enters the local queue of an only key, so
	 * that requests are served in the order in which they were made. Neither waits nor
	 * asks the store.
	 * @param reentrancy the reentrancy of the thread or chain that asks
	 */
	static Acquisition begin(KeyAcquisition.Factory engine, Reentrancy reentrancy, List<String> keys,
			HoldOptions options, Wait wait) {
		String first = keys.get(0);
		int era = engine.lifecycle().requireServed(first, wait.isAsync());
		return (keys.size() == 1)
				? engine.begin(first, options, wait, engine.instance().nextOwner(options.stays()), era)
				: new RequestAcquisition(engine, reentrancy, keys, options, wait, era);
	}

	@Override
	public String key() {
		return this.keys.get(Math.min(this.holds.size(), this.keys.size() - 1));
	}

	@Override
	public @Nullable List<Hold> holds() {
		return this.isHandedOut ? this.holds : null;
	}

	private boolean isComplete() {
		return this.holds.size() == this.keys.size();
	}

	@Override
	public Next advance(boolean signalled) throws InterruptedException {
		for (boolean came = signalled;; came = false) {
			if (this.isBusy) {
				return Need.DONE;
			}
			came &= !rollBackIfLost();
			if (isComplete()) {
				requireServed();
				return tryHandOut(this.engine.time().nanoTime()) ? Need.DONE : Need.ASK;
			}
			KeyAcquisition current = (this.current != null) ? this.current : next();
			Next next = (current != null) ? take(current, current.advance(came)) : Need.DONE;
			if (next != Need.DONE) {
				return next;
			}
		}
	}

	@Override
	public Next ask() throws InterruptedException {
		KeyAcquisition current = rollBackIfLost() ? null : this.current;
		if (current == null && !isComplete()) {
			return advance(false); // A loss has changed what is to be asked.
		}
		Next next = (current != null) ? take(current, current.ask()) : renew();
		return (next == Need.DONE && !this.isHandedOut) ? advance(false) : next;
	}

	/**
	 * Takes what the acquisition of one key needs, or has acquired.
	 */
	private Next take(KeyAcquisition current, Next next) {
		if (next instanceof Await pause) {
			return await(pause);
		}
		if (next == Need.DONE) {
			List<Hold> acquired = current.holds();
			if (acquired != null) {
				add(acquired.get(0));
			}
			this.isBusy = acquired == null;
			this.current = null;
			current.end();
		}
		return next;
	}

	private Next await(Await pause) {
		this.signal = pause.signal();
		return rollBackIfLost() ? Need.ASK : pause;
	}

	/**
	 * Takes note that a hold is lost. Called by any thread, and perhaps for a hold that
	 * was released.
	 */
	@Override
	public void lost() {
		this.lossPending = true;
		Semaphore signal = this.signal;
		if (signal != null) {
			signal.release();
		}
		this.wait.wake();
	}

	@Override
	public @Nullable Thread thread() {
		return null;
	}

	/**
	 * If a key was lost, gives up the key that the request waits for, and all keys from
	 * the first lost one on. Makes no attempt.
	 * @return whether the request gave keys up
	 * @throws LockLostException if a key was lost that had been re-entered
	 */
	private boolean rollBackIfLost() {
		if (!this.lossPending) {
			return false;
		}
		this.lossPending = false;
		int first = this.holds.size();
		for (int i = first - 1; i >= 0; i--) {
			Hold hold = this.holds.get(i);
			if (!this.engine.leases().isStillHeld(hold)) {
				if (!isOwn(hold)) {
					throw Leases.lost(hold, this.keys);
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
		this.isLeaseCommon = false;
		this.owner = this.engine.instance().nextOwner();
		Failures.orUndo(this::endCurrent, () -> undo(given));
		undo(given);
		return true;
	}

	private boolean isOwn(Hold hold) {
		return hold.options() == this.options;
	}

	private List<Hold> own() {
		return this.holds.stream().filter(this::isOwn).toList();
	}

	/**
	 * Releases holds. A key that is lost may be ours in the store yet, and nobody has
	 * used the key.
	 */
	private void undo(List<Hold> holds) {
		for (Hold hold : holds) {
			hold.detach(this);
			if (isOwn(hold) && hold.isLostHereOnly()) {
				this.engine.leases().cleanUp(hold.ownership());
			}
		}
		this.reentrancy.undo().accept(holds);
	}

	/**
	 * Begins with the next key.
	 * @return the acquisition of the key, or {@code null} if the key was re-entered
	 */
	private @Nullable KeyAcquisition next() {
		Hold outer = this.reentrancy.reenter(key(), this.options);
		if (outer != null) {
			add(outer);
			return null;
		}
		this.current = this.engine.begin(key(), this.options, this.wait, this.owner, this.era);
		return this.current;
	}

	private void add(Hold hold) {
		this.holds.add(hold);
		hold.attach(this);
		if (hold.isLost()) {
			this.lossPending = true;
		}
	}

	/**
	 * Renews all keys of the request's own, and hands them out if the renewal was done in
	 * time. A fixed lease, and the request's limits, count from then on.
	 */
	private Next renew() {
		LockBackendException failure = this.failure;
		requireServed();
		if (failure != null && this.wait.left() <= 0) {
			throw Failures.storeFailed(this.keys.get(0), this.wait.waited(), failure);
		}
		this.failure = null;
		List<Hold> own = own();
		long since = this.engine.time().nanoTime();
		try {
			this.engine.leases().renew(own);
			this.isLeaseCommon = true;
		}
		catch (LockBackendException ex) {
			if (!ex.isRetryable() || !this.wait.isAllowed()) {
				throw ex;
			}
			own.forEach(Hold::collect);
			this.failure = ex;
			return rest();
		}
		requireServed();
		if (tryHandOut(since)) {
			return Need.DONE;
		}
		if (!this.lossPending && this.wait.left() <= 0) {
			throw LockBackendException
				.of("Lock " + LockException.printable(this.keys) + " was acquired, but the answers took longer than"
						+ " half of the lease of " + Failures.text(this.options.lease()))
				.remedy("choose a longer lease")
				.retryable(true)
				.build();
		}
		return this.lossPending ? Need.ASK : rest();
	}

	private void requireServed() {
		this.engine.lifecycle().requireServed(this.era, this.keys.get(0));
	}

	private Next rest() {
		return await(new Await(new Semaphore(0), Math.max(0, this.wait.untilRetry())));
	}

	/**
	 * Hands the keys out, unless one is lost, or the keys have to be renewed before.
	 */
	private boolean tryHandOut(long since) {
		this.isHandedOut = areLeasesLongEnough() && tryCollect(since);
		return this.isHandedOut;
	}

	private boolean areLeasesLongEnough() {
		Moment now = Moment.now(this.engine.time());
		return (this.options.renewed() || this.isLeaseCommon) && this.holds.stream()
			.allMatch((hold) -> !isOwn(hold) || hold.lease().left(now) >= this.options.lease() / 2);
	}

	private boolean tryCollect(long since) {
		// All keys are checked first: once one key is collected, a loss is reported to
		// users.
		boolean collected = this.holds.stream().allMatch(this.engine.leases()::isStillHeld)
				&& own().stream().allMatch((hold) -> hold.collected(since));
		if (!collected) {
			own().forEach(Hold::collect);
			this.lossPending = true;
		}
		return collected;
	}

	@Override
	public void end() {
		try {
			endCurrent();
		}
		finally {
			if (!this.isHandedOut) {
				undo(this.holds);
			}
			else {
				this.holds.forEach((hold) -> hold.detach(this));
			}
		}
	}

	private void endCurrent() {
		KeyAcquisition current = this.current;
		this.current = null;
		if (current != null) {
			current.end();
		}
	}

}
