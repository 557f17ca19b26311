package io.github.distributedlock.engine.queue;

import java.util.Objects;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.HoldOptions;
import io.github.distributedlock.engine.lease.Lease.Moment;
import io.github.distributedlock.engine.lease.Ownership;
import io.github.distributedlock.engine.runtime.Failures;
import org.jspecify.annotations.Nullable;

/**
 * How one request gets its key, from its place in the local queue on: waits for its turn;
 * takes the key if it was left to it, else asks the store; if the key is busy asks again
 * and registers as a waiter in the same step; waits to be woken; and so on.
 *
 * <pre>
 * not begun ──► waits for its turn ──► rounds ──► ended
 *     │                                ▲ │  ▲ ▲
 *     └────────────────────────────────┘ │  │ │
 *      waits for a borrower, or for a    ▼  │ │ a reader queues up
 *      wake-up or the next poll ────────────┘ └─ after its first round
 * </pre>
 *
 * Invariants: confined to one thread at a time. No command is sent after the deadline,
 * but for the first one of a request. The engine is known to serve the request whenever a
 * round begins: it is asked after the request has its place, and again after every round
 * and every wait.
 * <p>
 * A request for a shared lock asks once out of turn, since readers do not exclude each
 * other, and queues up only if it has to wait.
 */
public final class AcquireLoop implements Acquisition {

	/**
	 * What a request waits for.
	 */
	private enum Awaited {

		TURN, BORROWER, WAKE_UP

	}

	/**
	 * How long a request that may not wait lets a withdrawal take.
	 */
	private static final long LONGEST_WITHDRAWAL = TimeUnit.SECONDS.toNanos(1);

	/**
	 * The next round begins at once.
	 */
	private static final long NEXT_ROUND = -3;

	private final int era;

	private final AcquireAttempts attempts;

	private QueueNode node;

	/**
	 * Whether it asks beside those that have their turn.
	 */
	private boolean outOfTurn;

	/**
	 * {@code null} until it has begun to wait.
	 */
	private @Nullable Awaited awaited;

	private @Nullable Polls polls;

	private @Nullable Hold hold;

	/**
	 * Creates it.
	 * @param node its place in the local queue, or beside it
	 * @param era when the request was made, and served
	 */
	AcquireLoop(AcquireContext context, QueueNode node, Claim claim, HoldOptions options, Wait wait, int era) {
		this.node = node;
		this.era = era;
		this.attempts = new AcquireAttempts(context, claim, options, wait);
		this.outOfTurn = options.isShared();
	}

	/**
	 * What came of it, once it has ended: the hold, guarded, or {@code null} if the key
	 * was busy for as long as the request may wait.
	 */
	public @Nullable Hold hold() {
		return this.hold;
	}

	/**
	 * Goes on.
	 * @throws LockBackendException if the store failed, or the engine was stopped
	 */
	@Override
	public long goOn(boolean signalled) throws InterruptedException {
		// A stop signals, too, but not to those that were in no queue yet.
		requireServed();
		Awaited awaited = this.awaited;
		if (awaited == null) {
			return this.node.wasFirst() ? rounds() : queueUp();
		}
		if (awaited == Awaited.TURN) {
			return turn(signalled);
		}
		if (awaited == Awaited.WAKE_UP) {
			if (signalled) {
				wokenUp();
			}
			if (this.attempts.wait.isOver()) {
				return busy();
			}
		}
		return rounds();
	}

	@Override
	public boolean mayAsk(boolean signalled) {
		Wait wait = this.attempts.wait;
		if (this.awaited == null) {
			return this.node.wasFirst();
		}
		if (this.awaited == Awaited.TURN) {
			return signalled && (isPatient() || !wait.isOver());
		}
		return !wait.isOver() || (this.awaited == Awaited.BORROWER && wait.mayAsk());
	}

	@Override
	public Semaphore signal() {
		return (this.awaited == Awaited.WAKE_UP) ? this.node.wakeUps() : this.node.grants();
	}

	@Override
	public void end() {
		AcquireContext context = this.attempts.context;
		try {
			if (this.hold == null) {
				this.attempts.giveUp(this.node);
			}
		}
		finally {
			if (this.attempts.options.fair()) {
				context.fairPollers().leave(this.node);
			}
			if (this.hold == null) {
				abandon();
			}
			else if (this.attempts.options.isShared()) {
				// The next one shares it at once.
				context.queue().leave(this.node);
			}
		}
	}

	private void abandon() {
		Ownership left = this.attempts.context.queue().abandon(this.node);
		if (left != null) {
			this.attempts.context.handOver().abandon(left);
		}
	}

	private void requireServed() {
		this.attempts.context.lifecycle().requireServed(this.era, this.node.key());
	}

	/**
	 * Waits for the turn in the local queue, until the time is over.
	 */
	private long queueUp() {
		this.attempts.wait.sawLocally(this.attempts.context.queue().holder(this.node.queueKey));
		beginToWait();
		return awaitTurn();
	}

	private long awaitTurn() {
		long left = this.attempts.wait.left();
		return await(Awaited.TURN, isPatient() ? Math.max(left, LONGEST_WITHDRAWAL) : left);
	}

	/**
	 * If there is only a withdrawal ahead, which takes one command, a request that has
	 * asked for nothing yet lets it end: the lock may be free.
	 */
	private boolean isPatient() {
		return this.node.followsWithdrawal && this.attempts.wait.mayBeLate();
	}

	/**
	 * Its turn has come, or the key was held or queued for here in all that time, or a
	 * stop has granted a permit.
	 */
	private long turn(boolean granted) throws InterruptedException {
		QueueNode node = this.node;
		if (granted && !node.isCurrent()) {
			return awaitTurn();
		}
		if (!granted) {
			this.attempts.wait.sawLocally(this.attempts.context.queue().holder(node.queueKey));
		}
		if (!granted || this.attempts.wait.isOver()) {
			// If it is late, a second command of a store that fails is not waited for.
			this.attempts.wait.requireNoFailure(node.key(), node.failure());
		}
		if (!granted && node.followsWithdrawal && !this.attempts.wait.isBusy()) {
			throw Failures.withdrawalNotAnswered(node.key(), this.attempts.wait.waited());
		}
		if (granted && (isPatient() || !this.attempts.wait.isOver())) {
			return rounds();
		}
		return this.attempts.options.isShared() ? busy() : ENDED;
	}

	private void beginToWait() {
		if (this.awaited == null) {
			this.attempts.wait.begins(this.node.key());
			this.node.isWaitedFor(this.attempts.wait);
			this.awaited = Awaited.TURN;
		}
	}

	private long await(Awaited awaited, long nanos) {
		this.awaited = awaited;
		return Math.max(0, nanos);
	}

	private long rounds() throws InterruptedException {
		long next = NEXT_ROUND;
		while (next == NEXT_ROUND) {
			next = round();
		}
		return next;
	}

	/**
	 * Takes the key that was left to this request, or the one that was granted to it, or
	 * asks. Waits for a borrower to give it back.
	 */
	private long round() throws InterruptedException {
		HandOver handOver = this.attempts.context.handOver();
		Ownership left = this.node.inherited();
		while (left != null && handOver.isOwned(left) && !this.attempts.wait.isOver()) {
			Hold hold = handOver.take(left, this.node, this.attempts.options);
			if (hold != null) {
				this.attempts.context.acquired(this.node, left.owner());
				return end(hold);
			}
			if (handOver.takeToPass(left)) {
				return ask(left);
			}
			this.node.insist();
			if (left.isHeld()) {
				requireServed(); // A stop signals only to those that insist.
				return await(Awaited.BORROWER, this.attempts.wait.left());
			}
		}
		Hold granted = this.attempts.accept(this.node);
		if (granted != null) {
			return end(granted);
		}
		return this.attempts.wait.mayAsk() ? ask(null) : pause();
	}

	/**
	 * Asks the store.
	 * @param passing the key that was left to this request, taken to be passed on by the
	 * store
	 */
	private long ask(@Nullable Ownership passing) throws InterruptedException {
		Moment sent = Moment.now(this.attempts.context.time());
		AcquireResult answer = this.attempts.ask(this.node, passing, sent);
		if (answer != null && answer.acquired()) {
			Hold hold = this.attempts.hold(this.node, sent, answer.fencingToken());
			return (hold != null) ? end(hold) : pause();
		}
		if (answer != null) {
			polls().told(answer);
		}
		return pause();
	}

	private long end(Hold hold) {
		this.hold = this.attempts.context.requireServed(hold, this.era);
		return ENDED;
	}

	private long busy() {
		this.attempts.requireBusy();
		return ENDED;
	}

	/**
	 * Pauses as long as there is nothing to be asked for, if there is time left to ask
	 * again.
	 */
	private long pause() {
		if (this.attempts.wait.isAllowed() && !this.attempts.wait.isOver()) {
			beginToWait();
			if (this.outOfTurn) {
				return enter();
			}
			if (this.attempts.failure() != null) {
				return await(Awaited.WAKE_UP, Math.min(this.attempts.retryPause(), this.attempts.wait.left()));
			}
			if (this.node.isRegistered()) {
				return await(Awaited.WAKE_UP,
						this.node.poller ? polls().pause(this.attempts.wait) : this.attempts.wait.left());
			}
		}
		requireServed();
		return (this.attempts.wait.isAllowed() && !this.attempts.wait.isOver()) ? NEXT_ROUND : busy();
	}

	private long enter() {
		this.outOfTurn = false;
		Waker waker = this.node.waker;
		this.node = Objects.requireNonNull(this.attempts.context.queue().enter(this.node.queueKey, true, false, waker));
		requireServed();
		return this.node.wasFirst() ? NEXT_ROUND : queueUp();
	}

	private void wokenUp() {
		this.node.forgetWakeUps();
		if (this.attempts.failure() == null) {
			polls().restart();
		}
	}

	private Polls polls() {
		Polls polls = this.polls;
		if (polls == null) {
			polls = this.attempts.context.polls(this.attempts.claim, this.attempts.options);
			this.polls = polls;
		}
		return polls;
	}

}
