package io.github.distributedlock.engine;

import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.engine.LocalKey.Entry;
import io.github.distributedlock.engine.LocalKey.Loan;
import io.github.distributedlock.engine.Lease.Moment;
import io.github.distributedlock.engine.Wait.Acquisition;
import org.jspecify.annotations.Nullable;

/**
 * Acquires one key for one request, under one deadline, from the request's entry into the
 * local queue on. The acquisition waits for its turn. If the key was left to the request,
 * the acquisition takes the key; otherwise the acquisition asks the store. If the key is
 * busy, the acquisition asks again, and registers as a waiter in the same step. Then the
 * acquisition waits to be woken, and so on.
 *
 * <pre>
 * not begun ──► waits for its turn ──► rounds ──► ended
 *     │                                ▲ │  ▲ ▲
 *     └────────────────────────────────┘ │  │ │
 *      waits for a borrower, or for a    ▼  │ │ a reader queues up
 *      wake-up or the next poll ────────────┘ └─ after its first round
 * </pre>
 *
 * Invariants: the acquisition is confined to one thread at a time. No command is sent
 * after the deadline, but for the first command of a request. Whenever a round begins,
 * the engine is known to serve the request: this is checked after the request has its
 * entry, and again after every round and every wait. All attempts name the same owner, so
 * that the next attempt recognises an attempt that was carried out but not answered.
 * While an attempt is unanswered, the request is unsettled. If the request ends without a
 * hold, what the store may have done is undone. If the request ends with a hold, what the
 * store may have done is undone after the release.
 * <p>
 * A request for a shared lock asks once out of turn, since readers do not exclude each
 * other, and queues up only if the request has to wait. A request with permits does the
 * same, unless the request will probably have to wait. A thread takes a key that was left
 * to a request which has not woken up yet, without an entry.
 */
final class KeyAcquisition implements Acquisition {

	/**
	 * The event that a request waits for; nothing, if its turn has come.
	 */
	private enum Awaited {

		TURN, NOTHING, BORROWER, WAKE_UP

	}

	/**
	 * The time, in nanoseconds, that a request that may not wait lets a withdrawal take
	 * at most.
	 */
	private static final long LONGEST_WITHDRAWAL = TimeUnit.SECONDS.toNanos(1);

	/**
	 * The time, in nanoseconds, that a request that may not wait lets an owner take at
	 * most to give back a key that nobody may be using.
	 */
	private static final long LONGEST_RECALL = TimeUnit.MILLISECONDS.toNanos(100);

	/**
	 * The most owners without an answer that the next request names, so that commands
	 * stay short in a long outage. The sweeper forgets each of these owners, named or
	 * not.
	 */
	private static final int MOST_UNWANTED = 100;

	private final Factory engine;

	private final Claim claim;

	private final HoldOptions options;

	private final Wait wait;

	private final int era;

	/**
	 * The entry of the request in the local queue, or beside the queue.
	 */
	private Entry entry;

	/**
	 * {@code true} while the request asks beside those that have their turn.
	 */
	private boolean outOfTurn;

	/**
	 * {@code true} if the acquisition has ended at once: with a key that was borrowed, or
	 * because the key is held or queued for here and the request may not wait.
	 */
	private boolean ended;

	/**
	 * The hold of the request, {@code null} until there is one.
	 */
	private @Nullable List<Hold> holds;

	/**
	 * The event that the request waits for; {@code null} until the request has begun to
	 * wait.
	 */
	private @Nullable Awaited awaited;

	private @Nullable Polls polls;

	/**
	 * The failure of the last attempt; {@code null} if that attempt was answered.
	 */
	private @Nullable LockBackendException failure;

	/**
	 * The number of attempts that the store could grant the key to.
	 */
	private int number;

	/**
	 * The lease of a grant to the last attempt, which counts from before the attempt was
	 * sent; {@code null} if the key may not be granted to the attempt.
	 */
	private @Nullable Lease grantable;

	private boolean wasBusy;

	/**
	 * {@code true} once an attempt has failed while its thread was interrupted.
	 */
	private boolean brokenOff;

	private boolean unsettled;

	/**
	 * The start of the slice that continues with this claim. If there is none, a slice
	 * begins when the answer has arrived, so that a slow store does not use up the slice.
	 */
	private OptionalLong sliceStart = OptionalLong.empty();

	private KeyAcquisition(Factory engine, Claim claim, HoldOptions options, Wait wait, int era) {
		QueueKey queueKey = new QueueKey(claim.key(), claim.waiter());
		this.engine = engine;
		this.claim = claim;
		this.options = options;
		this.wait = wait;
		this.era = era;
		LocalKey present = engine.queue.find(queueKey);
		boolean willWait = wait.isAllowed()
				&& (engine.queue.isContended(claim.key()) || (present != null && present.isRegistered()));
		this.outOfTurn = options.isShared() || (options.permits() > 1 && !willWait);
		Loan loan = (present != null && options.mayBeHandedOver() && (!wait.isAsync() || present.isKept()))
				? present.borrow() : null;
		if (loan != null || this.outOfTurn) {
			// Made before the key is taken. Once the key is taken, nothing may fail until
			// the hold is kept.
			this.entry = engine.queue.beside(queueKey, wait);
			this.ended = loan != null && borrow(loan);
			if (this.ended || this.outOfTurn) {
				return;
			}
		}
		Entry entered = engine.queue.enter(queueKey, wait.isAllowed() && wait.mayAttempt(), options.mayBeHandedOver(),
				wait);
		if (entered == null) {
			this.entry = engine.queue.beside(queueKey, wait);
			LocalKey busy = engine.queue.find(queueKey);
			if (busy != null) {
				requireNoFailure(busy.failure());
				wait.busyLocally(busy.holder());
			}
			this.ended = true;
			return;
		}
		this.entry = entered;
		if (options.fair()) {
			engine.queue.joinTickets(entered);
		}
	}

	/**
	 * Takes a key that was left to a request which has not woken up yet.
	 */
	private boolean borrow(Loan loan) {
		Hold borrowed = this.engine.handOver.take(loan.ownership(), loan, this.options, loan.isKept());
		if (borrowed != null) {
			end(borrowed, true);
		}
		return borrowed != null;
	}

	@Override
	public @Nullable List<Hold> holds() {
		return this.holds;
	}

	@Override
	public String key() {
		return this.claim.key();
	}

	/**
	 * Advances the request.
	 * @throws LockBackendException if the store failed, or the engine was stopped
	 */
	@Override
	public Next advance(boolean signalled) throws InterruptedException {
		if (this.ended) {
			return Need.DONE;
		}
		// A stop signals, too, but not to requests that were in no queue yet.
		requireServed();
		if (this.awaited == null) {
			return this.entry.wasFirst() ? Need.ASK : queueUp();
		}
		if (this.awaited == Awaited.TURN) {
			if (!signalled) {
				return late(false);
			}
			if (!this.entry.isCurrent()) {
				return awaitTurn();
			}
			this.awaited = Awaited.NOTHING;
		}
		if (this.awaited == Awaited.NOTHING) {
			return this.wait.isOver() ? late(true) : Need.ASK;
		}
		if (this.awaited == Awaited.WAKE_UP) {
			if (signalled) {
				local().forgetWakeUps();
				if (this.failure == null) {
					polls().restart();
				}
			}
			if (this.wait.isOver()) {
				return busy();
			}
		}
		return this.wait.mayAttempt() ? Need.ASK : ask();
	}

	@Override
	public void end() {
		boolean failed = this.holds == null;
		try {
			if (failed && this.number > 0 && !(this.unsettled && local().unwanted().size() >= MOST_UNWANTED)) {
				// The next request or withdrawal takes back what was granted.
				local().gaveUp(this.claim.owner());
			}
			if (failed && this.unsettled) {
				this.engine.leases.sweeper().cleanUp(this.claim);
			}
		}
		finally {
			if (this.options.fair()) {
				this.engine.queue.leaveTickets(this.entry);
			}
			if (failed) {
				this.entry.abandon(this.engine.handOver::abandon);
			}
			else if (!this.options.isAlone()) {
				// The next request asks at once.
				this.entry.leave();
			}
		}
	}

	private LocalKey local() {
		return this.entry.key();
	}

	private void requireServed() {
		this.engine.lifecycle.requireServed(this.era, key());
	}

	/**
	 * Waits for the turn in the local queue, until the time is over.
	 */
	private Next queueUp() {
		this.wait.busyLocally(local().holder());
		return awaitTurn();
	}

	private Next awaitTurn() {
		long left = this.wait.left();
		return await(Awaited.TURN, awaitsWithdrawal() ? Math.max(left, LONGEST_WITHDRAWAL) : left);
	}

	/**
	 * Returns whether the request lets a withdrawal end although the time is over. If
	 * only a withdrawal is ahead, which takes one command, a request that has asked for
	 * nothing yet lets the withdrawal end: the lock may be free.
	 */
	private boolean awaitsWithdrawal() {
		return this.entry.followsWithdrawal() && this.wait.mayBeLate();
	}

	/**
	 * Ends a request whose time is over: its turn has come late, or the key was held or
	 * queued for here in all that time. A request that is late does not wait for a second
	 * command of a store that fails.
	 */
	private Next late(boolean hasTurn) {
		if (!hasTurn) {
			this.wait.busyLocally(local().holder());
		}
		requireNoFailure(local().failure());
		if (hasTurn && awaitsWithdrawal()) {
			return Need.ASK;
		}
		if (!hasTurn && this.entry.followsWithdrawal() && !this.wait.isBusy()) {
			throw Failures.notAttempted(key(), "the store has not confirmed in " + Failures.text(this.wait.waited())
					+ " that the waiter before it has withdrawn", null);
		}
		return (this.polls != null || this.failure != null) ? busy() : Need.DONE;
	}

	/**
	 * Fails if the store failed for the requests that this request queued behind: the
	 * caller must not be told that the lock is busy.
	 */
	private void requireNoFailure(@Nullable LockBackendException failure) {
		if (failure != null) {
			throw Failures.storeFailed(key(), this.wait.waited(), failure);
		}
	}

	private Next await(Awaited awaited, long nanos) {
		this.awaited = awaited;
		Semaphore signal = (awaited == Awaited.WAKE_UP) ? local().wakeUps() : this.entry.nudges();
		return new Await(signal, Math.max(0, nanos));
	}

	/**
	 * Takes the key that was left to this request, or the key that was granted to this
	 * request, or asks the store. Waits for a borrower to return the key.
	 */
	@Override
	public Next ask() throws InterruptedException {
		HandOver handOver = this.engine.handOver;
		Ownership left = this.entry.inherited();
		// A request that had no other before it was left a key that has stayed here.
		boolean kept = this.entry.wasFirst();
		while (left != null && handOver.leases().isStillOwned(left) && (kept || !this.wait.isOver())) {
			Hold hold = handOver.take(left, this.entry, this.options, kept);
			if (hold != null) {
				return end(hold, true);
			}
			Moment sent = Moment.now(this.engine.time);
			Claim claim = nextClaim(sent); // May fail, so before the key is taken.
			if (handOver.takeToPass(left)) {
				return attempt(sent, claim, left);
			}
			this.entry.reclaim();
			if (left.isHeld()) {
				requireServed(); // A stop signals only to waiting requests.
				if (this.wait.isOver()) {
					this.wait.busyLocally(left.owner());
					return Need.DONE;
				}
				return await(Awaited.BORROWER, this.wait.left());
			}
		}
		Hold granted = accept();
		if (granted != null) {
			return end(granted, false);
		}
		return this.wait.mayAttempt() ? attempt() : rest();
	}

	private Next attempt() throws InterruptedException {
		Moment sent = Moment.now(this.engine.time);
		if (registers()) {
			Claim claim = nextClaim(sent);
			local().register();
			return attempt(sent, claim, null);
		}
		return attempt(sent, this.claim, null);
	}

	/**
	 * Asks the store.
	 * @param left the key that is to be passed on; {@code null} if there is none
	 * @throws LockBackendException if no other attempt would succeed
	 */
	private Next attempt(Moment sent, Claim claim, @Nullable Ownership left) throws InterruptedException {
		boolean unsettledBefore = this.unsettled;
		this.unsettled = true; // Set until the answer is read.
		this.wait.beginAttempt();
		AcquireResult answer;
		try {
			answer = (left != null) ? pass(left, claim, sent) : local().isRegistered()
					? this.engine.backend.acquireOrRegister(claim) : this.engine.backend.acquire(claim);
		}
		catch (RuntimeException ex) {
			return failed(Failures.asBackendException("acquire", key(), ex), unsettledBefore);
		}
		this.unsettled = unsettledBefore;
		this.failure = null;
		local().answered(claim.replaced());
		this.wait.answered(answer);
		if (answer.acquired()) {
			Hold hold = begin(new Lease(sent, claim.lease().toNanos()), sent.nanos(), token(answer));
			return (hold != null) ? end(hold, false) : rest();
		}
		if (this.engine.router.isUnused(this.claim, answer.holder()) && !this.wasBusy) {
			this.wait.recalls(LONGEST_RECALL);
		}
		this.wasBusy = true;
		// A pass whose answer was lost continues with its slice. This attempt was
		// answered, and the key is busy,
		// so that slice is over.
		this.sliceStart = OptionalLong.empty();
		polls().busy(answer);
		return rest();
	}

	/**
	 * Returns whether the next attempt registers as a waiter. An attempt that registers
	 * also recognises a grant that was not heard of, and a reservation for a request that
	 * waited here before. A request that will probably have to wait registers at once. A
	 * request out of turn must not register: the place of this JVM in the store is that
	 * of the current entry.
	 */
	private boolean registers() {
		return local().isKnownToStore() || (!this.outOfTurn && !this.wait.isOver()
				&& (this.wasBusy || this.unsettled || this.options.fair() || willHaveToWait()));
	}

	private boolean willHaveToWait() {
		return this.engine.queue.isContended(key()) && (isGranted() || this.options.permits() > 1);
	}

	private boolean isGranted() {
		return this.options.granted() && this.engine.backend.grantsTo(this.claim.instance());
	}

	/**
	 * Returns the claim of the next attempt, which names all owners that may have the key
	 * in place of this one.
	 */
	private Claim nextClaim(Moment sent) {
		Claim claim = this.claim;
		this.grantable = null;
		if (isGranted()) {
			this.number++;
			claim = claim.number(this.number).grantLease(this.engine.backend.grantLease());
			this.grantable = new Lease(sent, claim.grantLease().toNanos());
		}
		Set<String> unwanted = local().unwanted();
		return unwanted.isEmpty() ? claim : claim.replacing(unwanted);
	}

	private AcquireResult pass(Ownership passing, Claim claim, Moment sent) {
		// Set also if the key is released for a slice and no place is kept: a request
		// that counts as registered
		// pauses before the request asks again.
		local().register();
		boolean yields = this.engine.handOver.isSliceOver(passing, sent);
		this.sliceStart = yields ? OptionalLong.empty() : OptionalLong.of(passing.sliceStart());
		boolean answered = false;
		try {
			AcquireResult answer = this.engine.handOver.pass(passing, claim, yields);
			answered = true;
			return answer;
		}
		finally {
			if (!answered && claim.number() > 0) {
				local().gaveUp(passing.owner());
			}
		}
	}

	/**
	 * Decides how the request goes on after an attempt that failed. A client may break a
	 * command off if the thread is interrupted. A request that is not interruptible asks
	 * once more at once, even if the request may not wait.
	 */
	private Next failed(LockBackendException failure, boolean unsettledBefore) throws InterruptedException {
		this.failure = failure;
		if (!Thread.currentThread().isInterrupted()) {
			local().failed(failure); // Else this request alone failed.
		}
		if (failure.isWithoutEffect()) {
			this.unsettled = unsettledBefore;
		}
		if (!failure.isRetryable()) {
			throw failure;
		}
		if (Thread.interrupted()) {
			this.wait.interrupted("while the store was asked");
			if (!this.brokenOff) {
				this.brokenOff = true;
				requireServed();
				return Need.ASK;
			}
		}
		return rest();
	}

	/**
	 * Begins to hold what the store has granted to the last attempt, if the notification
	 * was heard. The store counts the lease from the grant. The grant came after the
	 * attempt was sent: otherwise there would have been no claim to grant.
	 * @return the hold, guarded, or {@code null} if the store is to be asked
	 */
	private @Nullable Hold accept() {
		ReleaseNotification grant = local().takeGrant();
		Lease lease = this.grantable;
		if (grant == null || lease == null || grant.number() != this.number
				|| !this.claim.owner().equals(grant.owner())) {
			return null;
		}
		Moment now = Moment.now(this.engine.time);
		if (lease.left(now) < lease.nanos() / 2) {
			return null; // The store gives a full lease to a request that asks.
		}
		this.wasBusy = true;
		this.failure = null;
		this.wait.answered(AcquireResult.ACQUIRED);
		return begin(lease, now.nanos(), OptionalLong.empty());
	}

	private static OptionalLong token(AcquireResult answer) {
		Long token = answer.fencingToken();
		return (token != null) ? OptionalLong.of(token) : OptionalLong.empty();
	}

	/**
	 * Begins to hold what the store has given.
	 * @return the hold, guarded, or {@code null} if the answer came too late
	 * @throws LockBackendException if the answer lacks the fencing token
	 */
	private @Nullable Hold begin(Lease lease, long begin, OptionalLong fencingToken) {
		boolean unsettledBefore = this.unsettled;
		this.unsettled = true; // Set until the hold is guarded.
		if (this.options.fenced() && fencingToken.isEmpty()) {
			throw LockBackendException
				.of("Lock '" + LockException.printable(key()) + "' was requested as fenced, but "
						+ this.engine.backend.getClass().getName() + " gave no fencing token")
				.remedy("request it without")
				.build();
		}
		EngineTime time = this.engine.time;
		Ownership ownership = new Ownership(this.claim, this.options, lease, begin,
				this.sliceStart.isPresent() ? this.sliceStart.getAsLong() : time.nanoTime(), unsettledBefore, time);
		if (ownership.isExpired()) {
			this.failure = LockBackendException
				.of("Lock '" + LockException.printable(key()) + "' was granted, but the answer took"
						+ " longer than the lease of " + Failures.text(this.options.lease()))
				.remedy("choose a longer lease")
				.retryable(true)
				.build();
			return null;
		}
		// Done before the hold is guarded: from then on a loss lets the next request in.
		takeFromOthers(ownership);
		Hold hold = this.engine.handOver.begin(ownership, this.entry, this.options, fencingToken);
		this.engine.queue.acquired(key(), this.wasBusy);
		if (this.wasBusy && this.options.stays()) {
			// Others may have asked before this owner got the key, and tell only the
			// owner that they have found.
			local().recall(ownership.owner());
		}
		this.unsettled = unsettledBefore;
		return hold;
	}

	/**
	 * Takes the key from other owners that may have been granted the key, since this
	 * request has the key.
	 */
	private void takeFromOthers(Ownership ownership) {
		Set<String> unwanted = this.entry.acquired(ownership.owner());
		if (!unwanted.isEmpty()) { // Else nothing is made, not even an iterator.
			unwanted.forEach((owner) -> this.engine.leases.sweeper().forget(local().queueKey().claim(owner)));
		}
	}

	/**
	 * Ends with a hold, or releases the hold unless the engine served the request all the
	 * time.
	 * @param inherited whether the key was handed over, so that others may have been
	 * granted the key
	 */
	private Next end(Hold hold, boolean inherited) {
		try {
			if (inherited) {
				takeFromOthers(hold.ownership());
			}
			requireServed();
			this.holds = List.of(hold);
		}
		finally {
			if (this.holds == null) {
				this.engine.handOver.undo(hold);
				hold.leaveQueue();
			}
		}
		return Need.DONE;
	}

	/**
	 * Ends because the store has said that the key is busy, or fails if the store has not
	 * said so.
	 */
	private Next busy() {
		LockBackendException failure = this.failure;
		if (failure != null) {
			throw this.wait.isAllowed() ? Failures.storeFailed(key(), this.wait.waited(), failure) : failure;
		}
		if (!this.wait.isBusy()) {
			throw Failures.notAttempted(key(), "the waitTime of " + Failures.text(this.wait.limit())
					+ " was over when the request had its other keys", "choose a longer waitTime");
		}
		return Need.DONE;
	}

	/**
	 * Pauses as long as there is nothing to be asked for, if there is time left to ask
	 * again.
	 */
	private Next rest() {
		if (!this.wait.isOver()) {
			if (this.outOfTurn) {
				return enter();
			}
			if (this.failure != null) {
				return await(Awaited.WAKE_UP, this.wait.untilRetry());
			}
			if (local().isRegistered()) {
				return await(Awaited.WAKE_UP, this.entry.isPoller() ? polls().pause(this.wait) : this.wait.left());
			}
		}
		requireServed();
		return this.wait.isOver() ? busy() : Need.ASK;
	}

	private Next enter() {
		this.outOfTurn = false;
		this.entry = Objects.requireNonNull(this.engine.queue.enter(local().queueKey(), true, false, this.wait));
		requireServed();
		return this.entry.wasFirst() ? Need.ASK : queueUp();
	}

	private Polls polls() {
		if (this.polls == null) {
			this.polls = new Polls(this.engine.polls, this.claim, this.options.granted(), this.engine.time);
		}
		return this.polls;
	}

	/**
	 * Begins the acquisitions of one engine. Safe for use by many threads.
	 */
	record Factory(LockBackend backend, Polls.Settings polls, LocalQueue queue, NotificationRouter router,
			HandOver handOver, Leases leases, Instance instance, Lifecycle lifecycle, EngineTime time) {

		/**
		 * Begins to acquire a key: enters the local queue, or stands beside the queue.
		 * The method does not wait, and asks nothing of the store.
		 * @param era the era in which the request was made, and served
		 */
		KeyAcquisition begin(String key, HoldOptions options, Wait wait, String owner, int era) {
			return new KeyAcquisition(this, options.claim(key, owner, this.instance.exclusive()), options, wait, era);
		}

	}

}
