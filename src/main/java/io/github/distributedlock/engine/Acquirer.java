package io.github.distributedlock.engine;

import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.Claim;
import org.jspecify.annotations.Nullable;

/**
 * Gets one key: queues up for it in this JVM, then talks to the store about it, all under
 * one deadline.
 */
final class Acquirer {

	/**
	 * How long a request that may not wait lets a withdrawal take.
	 */
	private static final long LONGEST_WITHDRAWAL = TimeUnit.SECONDS.toNanos(1);

	final LockBackend backend;

	final Watchdog watchdog;

	final Sweeper sweeper;

	final Instance instance;

	final Lifecycle lifecycle;

	final EngineTime time;

	final LockBackend.Listening listening;

	final PollInterval pollInterval;

	final HandOver handOver;

	private final LocalQueue queue;

	private final Lookouts lookouts = new Lookouts();

	private final String ours;

	private final String reservedForOurs;

	Acquirer(LockBackend backend, LocalQueue queue, Watchdog watchdog, Sweeper sweeper, HandOver handOver,
			Instance instance, Lifecycle lifecycle, EngineTime time, LockBackend.Listening listening,
			PollInterval pollInterval) {
		this.backend = backend;
		this.queue = queue;
		this.watchdog = watchdog;
		this.sweeper = sweeper;
		this.handOver = handOver;
		this.instance = instance;
		this.lifecycle = lifecycle;
		this.time = time;
		this.listening = listening;
		this.pollInterval = pollInterval;
		this.ours = instance.ownerPrefix();
		this.reservedForOurs = LockBackend.RESERVED + this.ours;
	}

	/**
	 * Acquires a key.
	 * @return the hold, guarded, or {@code null} if the key was busy for as long as the
	 * request may wait
	 * @throws LockBackendException if the store failed
	 * @throws InterruptedException if the thread was interrupted while it waited
	 */
	@Nullable Hold acquire(String key, String owner, Terms terms, Wait wait) throws InterruptedException {
		int era = this.lifecycle.era();
		this.lifecycle.require(era, key);
		Claim claim = terms.claim(key, owner, this.instance.id());
		Waiter waiter = new Waiter(key, claim.waiter());
		Hold borrowed = borrow(waiter, terms, era);
		if (borrowed != null) {
			return borrowed;
		}
		Turn first = enter(waiter, terms, wait.isAllowed() && wait.mayAsk());
		if (first == null) {
			requireNoFailure(key, this.queue.failure(waiter), wait);
			wait.sawLocally(this.queue.holder(waiter));
			return null;
		}
		Negotiation negotiation = new Negotiation(this, first, claim, terms, wait, era);
		Hold hold = null;
		try {
			if (awaitTurn(first, wait, era)) {
				hold = negotiation.run();
			}
			else {
				this.lifecycle.require(era, key);
			}
			return hold;
		}
		finally {
			if (terms.fair()) {
				this.lookouts.leave(first);
			}
			if (hold == null) {
				abandon(negotiation.turn());
			}
			else if (terms.isShared()) {
				// The next one shares it at once.
				this.queue.leave(negotiation.turn());
			}
		}
	}

	private @Nullable Turn enter(Waiter waiter, Terms terms, boolean mayWait) {
		if (terms.isShared()) {
			return Turn.beside(waiter);
		}
		Turn turn = this.queue.enter(waiter, mayWait, terms.handedOn());
		if (turn != null && terms.fair()) {
			this.lookouts.join(turn);
		}
		return turn;
	}

	/**
	 * Queues up after all.
	 */
	Turn queueUp(Waiter waiter) {
		return Objects.requireNonNull(this.queue.enter(waiter, true, false));
	}

	/**
	 * Takes note of who has a key. If it is reserved for a fair request of this JVM, that
	 * one's wake-up may have got lost, or nobody wants it any more. If it is owned by one
	 * that still waits, that one has not heard of it.
	 */
	void sawHolder(String key, @Nullable String holder) {
		if (holder == null) {
			return;
		}
		if (holder.startsWith(this.reservedForOurs)) {
			this.queue.wake(new Waiter(key, holder.substring(LockBackend.RESERVED.length())));
		}
		else if (holder.startsWith(this.ours)) {
			this.queue.wakeIfWaiting(new Waiter(key, holder));
		}
	}

	/**
	 * Takes a key that was left to a thread which has not woken up yet.
	 */
	private @Nullable Hold borrow(Waiter waiter, Terms terms, int era) {
		Tenure left = terms.handedOn() ? this.queue.lendable(waiter) : null;
		Hold hold = (left != null) ? this.handOver.take(left, null, terms) : null;
		return (hold != null && keep(hold, era)) ? hold : null;
	}

	/**
	 * Begins to hold what the store has given.
	 * @return the hold, guarded, or {@code null} if the engine was stopped meanwhile
	 */
	@Nullable Hold begin(Tenure tenure, Turn turn, Terms terms, OptionalLong fencingToken, int era) {
		Hold hold = new Hold(tenure, turn, terms, fencingToken, this.time);
		tenure.take(hold);
		turn.acquired(tenure.owner);
		this.watchdog.guard(tenure);
		return keep(hold, era) ? hold : null;
	}

	/**
	 * Takes the turn of a key that nobody here holds or waits for, nor does the store
	 * know of one who did.
	 */
	@Nullable Turn enterAlone(String key, Claim claim) {
		Turn turn = this.queue.enter(new Waiter(key, claim.waiter()), false, false);
		if (turn != null && (turn.isRegistered() || !turn.granted.tryAcquire())) {
			this.queue.leave(turn);
			return null;
		}
		return turn;
	}

	void leave(Turn turn) {
		this.queue.leave(turn);
	}

	/**
	 * Gives a hold back unless the engine has served its request all the time.
	 */
	boolean keep(Hold hold, int era) {
		if (this.lifecycle.serves(era)) {
			return true;
		}
		this.handOver.undo(hold);
		if (hold.turn == null) {
			this.queue.ended(hold);
		}
		return false;
	}

	private void abandon(Turn turn) {
		Tenure left = this.queue.abandon(turn);
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
	boolean awaitTurn(Turn turn, Wait wait, int era) throws InterruptedException {
		if (turn.isCurrent() && turn.granted.tryAcquire()) {
			return true;
		}
		wait.sawLocally(this.queue.holder(turn.waiter));
		wait.begins(turn.key);
		boolean patient = turn.followsWithdrawal && wait.mayBeLate();
		boolean granted = awaitGrant(turn, wait, patient);
		while (granted && !turn.isCurrent()) {
			this.lifecycle.require(era, turn.key);
			granted = awaitGrant(turn, wait, patient);
		}
		if (!granted) {
			wait.sawLocally(this.queue.holder(turn.waiter));
		}
		if (!granted || wait.isOver()) {
			// Late, nobody waits for a second command of a store that fails.
			requireNoFailure(turn.key, turn.failure(), wait);
		}
		if (!granted && turn.followsWithdrawal && !wait.isBusy()) {
			throw new LockBackendException(
					"Lock '" + LockException.printable(turn.key) + "' could not be asked for: the store has not"
							+ " answered in " + Text.of(wait.waited()) + " that nobody waits for it here",
					true, null);
		}
		return granted && (patient || !wait.isOver());
	}

	private boolean awaitGrant(Turn turn, Wait wait, boolean patient) throws InterruptedException {
		long patience = patient ? Math.max(wait.left(), LONGEST_WITHDRAWAL) : wait.left();
		return this.time.await(turn.granted, patience);
	}

	/**
	 * Who queues here while the store fails must not be told that the lock is busy.
	 */
	private static void requireNoFailure(String key, @Nullable LockBackendException failure, Wait wait) {
		if (failure != null) {
			throw Failures.inAllThatTime(key, wait, failure);
		}
	}

}
