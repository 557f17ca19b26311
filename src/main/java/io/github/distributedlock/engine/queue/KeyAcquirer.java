package io.github.distributedlock.engine.queue;

import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.ReleaseNotifications.Listening;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.HoldOptions;
import io.github.distributedlock.engine.lease.Ownership;
import io.github.distributedlock.engine.lease.Sweeper;
import io.github.distributedlock.engine.lease.Watchdog;
import io.github.distributedlock.engine.runtime.EngineTime;
import io.github.distributedlock.engine.runtime.Failures;
import io.github.distributedlock.engine.runtime.Instance;
import io.github.distributedlock.engine.runtime.Lifecycle;
import io.github.distributedlock.engine.runtime.Store;
import io.github.distributedlock.engine.runtime.Text;
import org.jspecify.annotations.Nullable;

/**
 * Gets one key: queues up for it in this JVM, then talks to the store about it, all under
 * one deadline.
 */
public final class KeyAcquirer {

	/**
	 * How long a request that may not wait lets a withdrawal take.
	 */
	private static final long LONGEST_WITHDRAWAL = TimeUnit.SECONDS.toNanos(1);

	final Store store;

	final Watchdog watchdog;

	final Sweeper sweeper;

	final Instance instance;

	final Lifecycle lifecycle;

	final EngineTime time;

	final Listening listening;

	final PollInterval pollInterval;

	final HandOver handOver;

	private final LocalQueue queue;

	private final FairPollers fairPollers = new FairPollers();

	public KeyAcquirer(Store store, LocalQueue queue, Watchdog watchdog, Sweeper sweeper, HandOver handOver,
			Instance instance, Lifecycle lifecycle, EngineTime time, Listening listening, PollInterval pollInterval) {
		this.store = store;
		this.queue = queue;
		this.watchdog = watchdog;
		this.sweeper = sweeper;
		this.handOver = handOver;
		this.instance = instance;
		this.lifecycle = lifecycle;
		this.time = time;
		this.listening = listening;
		this.pollInterval = pollInterval;
	}

	/**
	 * Acquires a key.
	 * @return the hold, guarded, or {@code null} if the key was busy for as long as the
	 * request may wait
	 * @throws LockBackendException if the store failed
	 * @throws InterruptedException if the thread was interrupted while it waited
	 */
	public @Nullable Hold acquire(String key, String owner, HoldOptions options, Wait wait)
			throws InterruptedException {
		int era = this.lifecycle.era();
		this.lifecycle.require(era, key);
		Claim claim = options.claim(key, owner, this.instance.id());
		QueueKey queueKey = new QueueKey(key, claim.waiter());
		Hold borrowed = borrow(queueKey, options, era);
		if (borrowed != null) {
			return borrowed;
		}
		QueueNode first = enter(queueKey, options, wait.isAllowed() && wait.mayAsk());
		if (first == null) {
			requireNoFailure(key, this.queue.failure(queueKey), wait);
			wait.sawLocally(this.queue.holder(queueKey));
			return null;
		}
		AcquireLoop loop = new AcquireLoop(this, first, claim, options, wait, era);
		Hold hold = null;
		try {
			if (awaitTurn(first, wait, era)) {
				hold = loop.run();
			}
			else {
				this.lifecycle.require(era, key);
			}
			return hold;
		}
		finally {
			if (options.fair()) {
				this.fairPollers.leave(first);
			}
			if (hold == null) {
				abandon(loop.node());
			}
			else if (options.isShared()) {
				// The next one shares it at once.
				this.queue.leave(loop.node());
			}
		}
	}

	private @Nullable QueueNode enter(QueueKey queueKey, HoldOptions options, boolean mayWait) {
		if (options.isShared()) {
			return QueueNode.beside(this.queue, queueKey);
		}
		QueueNode node = this.queue.enter(queueKey, mayWait, options.handedOn());
		if (node != null && options.fair()) {
			this.fairPollers.join(node);
		}
		return node;
	}

	/**
	 * Queues up after all.
	 */
	QueueNode queueUp(QueueKey queueKey) {
		return Objects.requireNonNull(this.queue.enter(queueKey, true, false));
	}

	/**
	 * Takes note of who has a key. If it is reserved for a fair request of this JVM, that
	 * one's wake-up may have got lost, or nobody wants it any more. If it is owned by one
	 * that still waits, that one has not heard of it.
	 */
	void sawHolder(String key, @Nullable Holder holder) {
		if (holder == null || !this.instance.hasMade(holder.name())) {
			return;
		}
		QueueKey ticket = new QueueKey(key, Waiter.fair(this.instance.id(), holder.name()));
		if (holder.isReservation()) {
			this.queue.wake(ticket);
		}
		else if (holder.state() == Holder.State.OWNER) {
			this.queue.wakeIfWaiting(ticket);
		}
	}

	/**
	 * Takes a key that was left to a thread which has not woken up yet.
	 */
	private @Nullable Hold borrow(QueueKey queueKey, HoldOptions options, int era) {
		Loan loan = options.handedOn() ? this.queue.borrow(queueKey) : null;
		Hold hold = (loan != null) ? this.handOver.take(loan.ownership(), loan, options) : null;
		return (hold != null && keep(hold, era)) ? hold : null;
	}

	/**
	 * Begins to hold what the store has given.
	 * @return the hold, guarded, or {@code null} if the engine was stopped meanwhile
	 */
	@Nullable Hold begin(Ownership ownership, QueueNode node, HoldOptions options, OptionalLong fencingToken, int era) {
		Hold hold = new Hold(ownership, node, options, fencingToken, this.time);
		ownership.take(hold);
		node.acquired(ownership.owner());
		this.watchdog.guard(ownership);
		return keep(hold, era) ? hold : null;
	}

	/**
	 * Takes the turn of a key that nobody here holds or waits for, nor does the store
	 * know of one who did.
	 */
	@Nullable QueueNode enterAlone(String key, Claim claim) {
		QueueNode node = this.queue.enter(new QueueKey(key, claim.waiter()), false, false);
		if (node != null && (node.isRegistered() || !node.granted.tryAcquire())) {
			this.queue.leave(node);
			return null;
		}
		return node;
	}

	void leave(QueueNode node) {
		this.queue.leave(node);
	}

	/**
	 * Gives a hold back unless the engine has served its request all the time.
	 */
	boolean keep(Hold hold, int era) {
		if (this.lifecycle.serves(era)) {
			return true;
		}
		this.handOver.undo(hold);
		hold.leavePlace();
		return false;
	}

	private void abandon(QueueNode node) {
		Ownership left = this.queue.abandon(node);
		if (left != null) {
			this.handOver.abandon(left);
		}
	}

	/**
	 * Waits for a turn, until the time is over. If there is only a withdrawal ahead,
	 * which takes one command, a request that has asked for nothing yet lets it end: the
	 * lock may be free.
	 * @return {@code false} if the key was held or queued for here in all that time, or
	 * is busy by the store's word
	 * @throws LockBackendException if the store kept us waiting, or the engine was
	 * stopped
	 */
	boolean awaitTurn(QueueNode node, Wait wait, int era) throws InterruptedException {
		if (node.isCurrent() && node.granted.tryAcquire()) {
			return true;
		}
		wait.sawLocally(this.queue.holder(node.queueKey));
		wait.begins(node.key);
		boolean patient = node.followsWithdrawal && wait.mayBeLate();
		boolean granted = awaitGrant(node, wait, patient);
		while (granted && !node.isCurrent()) {
			this.lifecycle.require(era, node.key);
			granted = awaitGrant(node, wait, patient);
		}
		if (!granted) {
			wait.sawLocally(this.queue.holder(node.queueKey));
		}
		if (!granted || wait.isOver()) {
			// Late, nobody waits for a second command of a store that fails.
			requireNoFailure(node.key, node.failure(), wait);
		}
		if (!granted && node.followsWithdrawal && !wait.isBusy()) {
			throw LockBackendException
				.of("Lock '" + LockException.printable(node.key) + "' could not be asked for: the store has not"
						+ " answered in " + Text.of(wait.waited()) + " that nobody waits for it here")
				.retryable(true)
				.build();
		}
		return granted && (patient || !wait.isOver());
	}

	private boolean awaitGrant(QueueNode node, Wait wait, boolean patient) throws InterruptedException {
		long patience = patient ? Math.max(wait.left(), LONGEST_WITHDRAWAL) : wait.left();
		return this.time.await(node.granted, patience);
	}

	/**
	 * Who queues here while the store fails must not be told that the lock is busy.
	 */
	private static void requireNoFailure(String key, @Nullable LockBackendException failure, Wait wait) {
		if (failure != null) {
			throw Failures.inAllThatTime(key, wait.waited(), failure);
		}
	}

}
