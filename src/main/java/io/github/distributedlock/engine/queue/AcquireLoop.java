package io.github.distributedlock.engine.queue;

import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.Attempt;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.HoldOptions;
import io.github.distributedlock.engine.lease.Lease.Moment;
import io.github.distributedlock.engine.lease.Ownership;
import io.github.distributedlock.engine.runtime.Failures;
import io.github.distributedlock.engine.runtime.Text;
import org.jspecify.annotations.Nullable;

/**
 * The talk of the thread that has a key's turn with the store: asks; if the key is busy
 * asks again and registers as a waiter in the same step; waits to be woken; and so on.
 * <p>
 * Invariants: no command is sent after the deadline, but for the first one of a request.
 * All sends name the same owner, so that one which was carried out unheard is recognised
 * by the next. If one was not answered and this ends without a hold, it is cleaned up; if
 * it ends with one, that is cleaned up after its release.
 * <p>
 * Who wants to share the lock asks once out of turn, since readers do not exclude each
 * other, and queues up only if it has to wait.
 */
final class AcquireLoop {

	private static final long FIRST_RETRY = TimeUnit.MILLISECONDS.toNanos(25);

	private static final long LONGEST_RETRY = TimeUnit.MILLISECONDS.toNanos(500);

	private final KeyAcquirer parts;

	private QueueNode node;

	/**
	 * Whether it asks beside those that have their turn.
	 */
	private boolean outOfTurn;

	private final Claim claim;

	private final HoldOptions options;

	private final Wait wait;

	private @Nullable Polls polls;

	private final int era;

	private @Nullable LockBackendException failure;

	private long retry = FIRST_RETRY;

	private boolean busy;

	private boolean unsettled;

	private @Nullable Ownership passing;

	/**
	 * When the slice began that goes on with this claim. Otherwise one begins when the
	 * answer is here: while the store is slow nobody uses it.
	 */
	private OptionalLong sliceStart = OptionalLong.empty();

	AcquireLoop(KeyAcquirer parts, QueueNode node, Claim claim, HoldOptions options, Wait wait, int era) {
		this.parts = parts;
		this.node = node;
		this.options = options;
		this.wait = wait;
		this.era = era;
		this.claim = claim;
		this.outOfTurn = options.isShared();
	}

	QueueNode node() {
		return this.node;
	}

	@Nullable Hold run() throws InterruptedException {
		Hold hold = null;
		try {
			do {
				this.parts.lifecycle.require(this.era, this.node.key);
				hold = inherit();
				if (hold == null && (this.passing != null || this.wait.mayAsk())) {
					hold = ask();
				}
			}
			while (hold == null && mayAskAgain());
			if (hold == null) {
				this.parts.lifecycle.require(this.era, this.node.key);
			}
			if (hold == null && this.failure != null) {
				throw this.wait.isAllowed() ? Failures.inAllThatTime(this.node.key, this.wait.waited(), this.failure)
						: this.failure;
			}
			if (hold == null && !this.wait.isBusy()) {
				throw Failures.notAsked(this.node.key, this.wait.limit());
			}
			return hold;
		}
		finally {
			if (hold == null && this.unsettled) {
				this.parts.sweeper.cleanUp(this.node.key, this.claim.owner(), this.options.lease());
			}
		}
	}

	/**
	 * Takes the key that the turn before has left, or keeps it in mind to be passed on.
	 * Waits for who has borrowed it.
	 */
	private @Nullable Hold inherit() throws InterruptedException {
		Ownership left = this.node.inherited();
		while (left != null && left.isOwned() && !this.wait.isOver()) {
			Hold hold = this.parts.handOver.take(left, this.node, this.options);
			if (hold != null) {
				this.node.acquired(left.owner());
				return this.parts.keep(hold, this.era) ? hold : null;
			}
			if (this.parts.handOver.takeToPass(left)) {
				this.passing = left;
				return null;
			}
			this.node.insist();
			if (left.isOwned() && !left.isVacant()) {
				this.parts.time.await(this.node.granted, this.wait.left());
			}
		}
		return null;
	}

	private @Nullable Hold ask() throws InterruptedException {
		Moment sent = Moment.now(this.parts.time);
		boolean unsettledBefore = this.unsettled;
		try {
			boolean registers = registers();
			this.unsettled = true; // Until the answer is read.
			this.wait.asking();
			Attempt attempt = send(sent, registers);
			this.unsettled = unsettledBefore;
			this.failure = null;
			this.retry = FIRST_RETRY;
			this.node.answered();
			this.wait.heard(attempt);
			this.parts.sawHolder(this.node.key, attempt.holder());
			this.busy = true;
			if (attempt.acquired()) {
				return hold(sent, attempt.fencingToken());
			}
			polls().told(attempt);
			// What was passed on unheard goes on with its slice, but not this.
			this.sliceStart = OptionalLong.empty();
			return null;
		}
		catch (RuntimeException ex) {
			this.failure = Failures.asBackendException("acquire", this.node.key, ex);
			if (!Thread.currentThread().isInterrupted()) { // Else it is our failure
															// alone.
				this.node.failed(this.failure);
			}
			if (this.failure.isNotCarriedOut()) {
				this.unsettled = unsettledBefore;
			}
			if (!this.failure.isRetryable()) {
				throw this.failure;
			}
			if (Thread.interrupted()) {
				throw new InterruptedException("interrupted while the store was asked");
			}
			return null;
		}
	}

	/**
	 * Whether to register as a waiter, which also recognises what was granted unheard,
	 * and what is reserved for one who waited here before.
	 */
	private boolean registers() {
		return this.node.isRegistered()
				|| (!this.wait.isOver() && (this.busy || this.unsettled || this.options.fair()));
	}

	private Attempt send(Moment sent, boolean registers) {
		Ownership passing = this.passing;
		if (passing != null) {
			this.passing = null;
			this.node.registering();
			boolean yields = this.parts.handOver.isSliceOver(passing, sent);
			this.sliceStart = yields ? OptionalLong.empty() : OptionalLong.of(passing.sliceStart());
			return this.parts.handOver.pass(passing, this.claim, yields);
		}
		if (registers) {
			this.node.registering();
			return this.parts.store.acquireOrRegister(this.claim);
		}
		return this.parts.store.acquire(this.claim);
	}

	private @Nullable Hold hold(Moment sent, OptionalLong fencingToken) {
		if (this.options.fenced() && fencingToken.isEmpty()) {
			this.unsettled = true;
			throw LockBackendException
				.of("Lock '" + LockException.printable(this.node.key) + "' was requested as fenced, but "
						+ this.parts.store.backend().getClass().getName() + " gave no fencing token")
				.remedy("request it without")
				.build();
		}
		Ownership ownership = new Ownership(this.node.key, this.claim.owner(), this.options, sent,
				this.sliceStart.orElseGet(this.parts.time::nanoTime), this.unsettled, this.parts.time);
		if (ownership.isOver()) {
			this.unsettled = true;
			this.failure = LockBackendException
				.of("Lock '" + LockException.printable(this.node.key) + "' was granted, but the answer took"
						+ " longer than the lease of " + Text.of(this.options.lease()))
				.remedy("choose a longer lease")
				.retryable(true)
				.build();
			return null;
		}
		boolean unsettledBefore = this.unsettled;
		this.unsettled = true; // Until it is guarded.
		Hold hold = this.parts.begin(ownership, this.node, this.options, fencingToken, this.era);
		this.unsettled = unsettledBefore;
		return hold;
	}

	/**
	 * Pauses as long as there is nothing to be asked for.
	 * @return whether there is time left to ask again
	 */
	private boolean mayAskAgain() throws InterruptedException {
		if (!this.wait.isAllowed() || this.wait.isOver()) {
			return false;
		}
		this.wait.begins(this.node.key);
		if (this.outOfTurn) {
			this.outOfTurn = false;
			this.node = this.parts.queueUp(this.node.queueKey);
			return this.parts.awaitTurn(this.node, this.wait, this.era);
		}
		if (this.failure != null) {
			this.node.awaitWakeUp(this.parts.time, Math.min(this.retry, this.wait.left()));
			this.retry = Math.min(2 * this.retry, LONGEST_RETRY);
		}
		else if (this.node.isRegistered() && this.node.awaitWakeUp(this.parts.time, pause())) {
			polls().restart();
		}
		return !this.wait.isOver();
	}

	private Polls polls() {
		Polls polls = this.polls;
		if (polls == null) {
			polls = new Polls(this.parts.store, this.parts.listening, this.parts.pollInterval, this.claim,
					this.parts.time);
			this.polls = polls;
		}
		return polls;
	}

	private long pause() {
		return this.node.poller ? polls().pause(this.wait) : this.wait.left();
	}

}
