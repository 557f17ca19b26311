package io.github.distributedlock.engine.queue;

import java.util.Objects;
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
 * and registers as a waiter in the same step; waits to be woken; and so on. Confined to
 * the requesting thread.
 * <p>
 * Invariants: no command is sent after the deadline, but for the first one of a request.
 * The engine is known to serve the request whenever a round begins: it did when the
 * request was made, and is asked again after every round and every wait.
 * <p>
 * A request for a shared lock asks once out of turn, since readers do not exclude each
 * other, and queues up only if it has to wait.
 */
final class AcquireLoop {

	/**
	 * How long a request that may not wait lets a withdrawal take.
	 */
	private static final long LONGEST_WITHDRAWAL = TimeUnit.SECONDS.toNanos(1);

	private final Wait wait;

	private final int era;

	private final AcquireAttempts attempts;

	private QueueNode node;

	/**
	 * Whether it asks beside those that have their turn.
	 */
	private boolean outOfTurn;

	/**
	 * Whether it has begun to wait.
	 */
	private boolean waits;

	/**
	 * The key that was left to this request, taken to be passed on by the store.
	 */
	private @Nullable Ownership passing;

	private @Nullable Polls polls;

	/**
	 * Creates it.
	 * @param node its place in the local queue, or beside it
	 * @param era when the request was made, and served
	 */
	AcquireLoop(AcquireContext context, QueueNode node, Claim claim, HoldOptions options, Wait wait, int era) {
		this.node = node;
		this.wait = wait;
		this.era = era;
		this.attempts = new AcquireAttempts(context, claim, options, wait);
		this.outOfTurn = options.isShared();
	}

	/**
	 * Its present place in the local queue.
	 */
	QueueNode node() {
		return this.node;
	}

	/**
	 * Acquires the key.
	 * @return the hold, guarded, or {@code null} if the key was busy for as long as the
	 * request may wait
	 * @throws LockBackendException if the store failed, or the engine was stopped
	 */
	@Nullable Hold run() throws InterruptedException {
		if (!awaitTurn()) {
			return null;
		}
		Hold hold = null;
		try {
			boolean goesOn = true;
			while (hold == null && goesOn) {
				hold = attempt();
				if (hold == null) {
					goesOn = mayAskAgain();
					requireServed();
				}
			}
			if (hold == null) {
				this.attempts.requireBusy();
			}
			return hold;
		}
		finally {
			if (hold == null) {
				this.attempts.giveUp(this.node);
			}
		}
	}

	private void requireServed() {
		this.attempts.context.lifecycle().requireServed(this.era, this.node.key());
	}

	/**
	 * Waits for the turn in the local queue, until the time is over. If there is only a
	 * withdrawal ahead, which takes one command, a request that has asked for nothing yet
	 * lets it end: the lock may be free.
	 * @return {@code false} if the key was held or queued for here in all that time, or
	 * is busy by the store's word
	 */
	private boolean awaitTurn() throws InterruptedException {
		QueueNode node = this.node;
		if (node.takeTurn()) {
			return true;
		}
		this.wait.sawLocally(this.attempts.context.queue().holder(node.queueKey));
		beginToWait();
		boolean patient = node.followsWithdrawal && this.wait.mayBeLate();
		boolean granted;
		do {
			long left = this.wait.left();
			granted = node.awaitGrant(this.wait, patient ? Math.max(left, LONGEST_WITHDRAWAL) : left);
			requireServed(); // A stop grants, too.
		}
		while (granted && !node.isCurrent());
		if (!granted) {
			this.wait.sawLocally(this.attempts.context.queue().holder(node.queueKey));
		}
		if (!granted || this.wait.isOver()) {
			// If it is late, a second command of a store that fails is not waited for.
			this.wait.requireNoFailure(node.key(), node.failure());
		}
		if (!granted && node.followsWithdrawal && !this.wait.isBusy()) {
			throw Failures.withdrawalNotAnswered(node.key(), this.wait.waited());
		}
		return granted && (patient || !this.wait.isOver());
	}

	private void beginToWait() {
		if (!this.waits) {
			this.wait.begins(this.node.key());
		}
		this.waits = true;
	}

	private @Nullable Hold attempt() throws InterruptedException {
		Hold hold = inherit();
		if (hold == null && this.passing == null) {
			hold = this.attempts.accept(this.node);
		}
		if (hold == null && (this.passing != null || this.wait.mayAsk())) {
			hold = ask();
		}
		return (hold != null) ? this.attempts.context.requireServed(hold, this.era) : null;
	}

	/**
	 * Takes the key that was left to this request, or keeps it in mind to be passed on.
	 * Waits for a borrower to give it back.
	 */
	private @Nullable Hold inherit() throws InterruptedException {
		HandOver handOver = this.attempts.context.handOver();
		Ownership left = this.node.inherited();
		while (left != null && handOver.isOwned(left) && !this.wait.isOver()) {
			Hold hold = handOver.take(left, this.node, this.attempts.options);
			if (hold != null) {
				this.attempts.context.acquired(this.node, left.owner());
				return hold;
			}
			if (handOver.takeToPass(left)) {
				this.passing = left;
				return null;
			}
			this.node.insist();
			if (left.isHeld()) {
				this.node.awaitGrant(this.wait, this.wait.left());
			}
		}
		return null;
	}

	private @Nullable Hold ask() throws InterruptedException {
		Ownership passing = this.passing;
		this.passing = null;
		Moment sent = Moment.now(this.attempts.context.time());
		AcquireResult answer = this.attempts.ask(this.node, passing, sent);
		if (answer == null) {
			return null;
		}
		if (answer.acquired()) {
			return this.attempts.hold(this.node, sent, answer.fencingToken());
		}
		polls().told(answer);
		return null;
	}

	/**
	 * Pauses as long as there is nothing to be asked for.
	 * @return whether there is time left to ask again
	 */
	private boolean mayAskAgain() throws InterruptedException {
		if (!this.wait.isAllowed() || this.wait.isOver()) {
			return false;
		}
		beginToWait();
		if (this.outOfTurn) {
			this.outOfTurn = false;
			this.node = Objects.requireNonNull(this.attempts.context.queue().enter(this.node.queueKey, true, false));
			return awaitTurn();
		}
		if (this.attempts.failure() != null) {
			this.node.awaitWakeUp(this.wait, Math.min(this.attempts.retryPause(), this.wait.left()));
		}
		else if (this.node.isRegistered() && this.node.awaitWakeUp(this.wait, pause())) {
			polls().restart();
		}
		return !this.wait.isOver();
	}

	private long pause() {
		return this.node.poller ? polls().pause(this.wait) : this.wait.left();
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
