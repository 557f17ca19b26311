package io.github.distributedlock.engine.queue;

import java.util.OptionalLong;
import java.util.Set;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.HoldOptions;
import io.github.distributedlock.engine.lease.Lease;
import io.github.distributedlock.engine.lease.Lease.Moment;
import io.github.distributedlock.engine.lease.Ownership;
import io.github.distributedlock.engine.runtime.Backoff;
import io.github.distributedlock.engine.runtime.Failures;
import io.github.distributedlock.engine.runtime.Text;
import org.jspecify.annotations.Nullable;

/**
 * The attempts of one request to acquire its key from the store. Confined to one thread
 * at a time.
 * <p>
 * Invariants: all attempts name the same owner, so that one that was carried out but not
 * answered is recognised by the next. While one is unanswered, the request is unsettled:
 * if it ends without a hold, {@link #giveUp} undoes what the store may have done; if it
 * ends with one, that is undone after the release.
 */
final class AcquireAttempts {

	// These four are the loop's, too.
	final AcquireContext context;

	final Claim claim;

	final HoldOptions options;

	final Wait wait;

	/**
	 * Why the last attempt failed; {@code null} if it was answered.
	 */
	private @Nullable LockBackendException failure;

	/**
	 * The pauses between attempts that fail; {@code null} after one that was answered.
	 */
	private @Nullable Backoff retries;

	/**
	 * That of the last attempt.
	 */
	private long number;

	/**
	 * The lease of a grant to the last attempt, which counts from before that was sent;
	 * {@code null} if the key may not be granted to it.
	 */
	private @Nullable Lease grantable;

	private boolean mayBeGranted;

	private boolean wasBusy;

	private boolean unsettled;

	/**
	 * When the slice began that goes on with this claim. Otherwise one begins when the
	 * answer is here: while the store is slow it is not used.
	 */
	private OptionalLong sliceStart = OptionalLong.empty();

	AcquireAttempts(AcquireContext context, Claim claim, HoldOptions options, Wait wait) {
		this.context = context;
		this.claim = claim;
		this.options = options;
		this.wait = wait;
	}

	@Nullable LockBackendException failure() {
		return this.failure;
	}

	/**
	 * Asks the store for the key.
	 * @param passing the key, if it was left to this request, to be passed on by the
	 * store
	 * @param sent now
	 * @return the answer, or {@code null} if there was none, but another attempt may
	 * succeed
	 * @throws LockBackendException if no other attempt would succeed
	 */
	@Nullable AcquireResult ask(QueueNode node, @Nullable Ownership passing, Moment sent) throws InterruptedException {
		boolean unsettledBefore = this.unsettled;
		boolean registers = registers(node);
		this.unsettled = true; // Until the answer is read.
		this.wait.asking();
		Claim claim = (registers || passing != null) ? next(node, sent) : this.claim;
		AcquireResult answer;
		try {
			answer = (passing != null) ? pass(node, passing, claim, sent) : send(node, claim, registers);
		}
		catch (RuntimeException ex) {
			failed(node, Failures.asBackendException("acquire", node.key(), ex), unsettledBefore);
			return null;
		}
		this.unsettled = unsettledBefore;
		this.failure = null;
		this.retries = null;
		node.answered();
		node.settled(claim.replaced());
		this.wait.heard(answer);
		if (!answer.acquired()) {
			this.context.wakeUps().sawHolder(node.key(), answer.holder());
			this.wasBusy = true;
			// What was passed on unheard goes on with its slice, but not this.
			this.sliceStart = OptionalLong.empty();
		}
		return answer;
	}

	/**
	 * Whether to register as a waiter, which also recognises what was granted unheard,
	 * and what is reserved for one that waited here before.
	 */
	private boolean registers(QueueNode node) {
		return node.isRegistered() || !node.unwanted().isEmpty() || (!this.wait.isOver()
				&& (this.wasBusy || this.unsettled || this.options.fair() || isExpectedToWait()));
	}

	/**
	 * Whether it would be busy at the first question, too, so that it registers at once.
	 */
	private boolean isExpectedToWait() {
		return this.context.contention().isExpected(this.claim.key()) && isGranted();
	}

	private boolean isGranted() {
		return this.options.granted() && this.context.store().grantsTo(this.claim.instance());
	}

	/**
	 * The claim of the next attempt, which names all that may have the key in its place.
	 */
	private Claim next(QueueNode node, Moment sent) {
		this.number++;
		Claim claim = this.claim;
		this.grantable = null;
		if (isGranted()) {
			claim = this.context.store().grantable(claim, this.number);
			this.grantable = new Lease(sent, claim.grantLease().toNanos());
			this.mayBeGranted = true;
			node.mayBeGranted();
		}
		Set<String> unwanted = node.unwanted();
		return unwanted.isEmpty() ? claim : claim.replacing(unwanted);
	}

	private AcquireResult send(QueueNode node, Claim claim, boolean registers) {
		if (registers) {
			node.registering();
			return this.context.store().acquireOrRegister(claim);
		}
		return this.context.store().acquire(claim);
	}

	private AcquireResult pass(QueueNode node, Ownership passing, Claim claim, Moment sent) {
		HandOver handOver = this.context.handOver();
		// Also if the key is to rest and no place is kept: a request that counts as
		// registered pauses before it asks again.
		node.registering();
		boolean yields = handOver.isSliceOver(passing, sent);
		this.sliceStart = yields ? OptionalLong.empty() : OptionalLong.of(passing.sliceStart());
		boolean answered = false;
		try {
			AcquireResult answer = handOver.pass(passing, claim, yields);
			answered = true;
			return answer;
		}
		finally {
			if (!answered && claim.number() > 0) {
				node.gaveUp(passing.owner());
			}
		}
	}

	private void failed(QueueNode node, LockBackendException failure, boolean unsettledBefore)
			throws InterruptedException {
		this.failure = failure;
		if (!Thread.currentThread().isInterrupted()) {
			node.failed(failure); // Else it is our failure alone.
		}
		if (failure.isNotCarriedOut()) {
			this.unsettled = unsettledBefore;
		}
		if (!failure.isRetryable()) {
			throw failure;
		}
		if (Thread.interrupted()) {
			this.wait.interrupted("while the store was asked");
		}
	}

	/**
	 * Begins to hold what the last answer has given.
	 * @return the hold, guarded, or {@code null} if the answer came too late
	 * @throws LockBackendException if the answer lacks the fencing token
	 */
	@Nullable Hold hold(QueueNode node, Moment sent, OptionalLong fencingToken) {
		return hold(node, new Lease(sent, this.options.lease()), sent.nanos(), fencingToken);
	}

	/**
	 * Begins to hold what the store has granted to the last attempt, if that was heard.
	 * The store counts the lease from when it granted it, which was after the attempt was
	 * sent: else it would have had nothing to grant.
	 * @return the hold, guarded, or {@code null} if the store is to be asked
	 */
	@Nullable Hold accept(QueueNode node) {
		ReleaseNotification grant = node.takeGrant();
		Lease lease = this.grantable;
		if (grant == null || lease == null || grant.number() != this.number
				|| !this.claim.owner().equals(grant.owner())) {
			return null;
		}
		Moment now = Moment.now(this.context.time());
		if (lease.left(now) < lease.nanos() / 2) {
			return null; // Asking gives a full one.
		}
		this.wasBusy = true;
		this.failure = null;
		this.wait.heard(AcquireResult.ACQUIRED);
		return hold(node, lease, now.nanos(), OptionalLong.empty());
	}

	private @Nullable Hold hold(QueueNode node, Lease lease, long begin, OptionalLong fencingToken) {
		boolean unsettledBefore = this.unsettled;
		this.unsettled = true; // Until it is guarded.
		if (this.options.fenced() && fencingToken.isEmpty()) {
			throw LockBackendException
				.of("Lock '" + LockException.printable(node.key()) + "' was requested as fenced, but "
						+ this.context.store().backend().getClass().getName() + " gave no fencing token")
				.remedy("request it without")
				.build();
		}
		Ownership ownership = new Ownership(node.key(), this.claim.owner(), this.options, lease, begin,
				this.sliceStart.orElseGet(this.context.time()::nanoTime), unsettledBefore, this.context.time());
		if (ownership.isOver()) {
			this.failure = LockBackendException
				.of("Lock '" + LockException.printable(node.key()) + "' was granted, but the answer took"
						+ " longer than the lease of " + Text.of(this.options.lease()))
				.remedy("choose a longer lease")
				.retryable(true)
				.build();
			return null;
		}
		Hold hold = this.context.begin(ownership, node, this.options, fencingToken);
		this.context.contention().acquired(node.key(), this.wasBusy);
		this.unsettled = unsettledBefore;
		return hold;
	}

	/**
	 * For how long to pause after a failure, in nanoseconds.
	 */
	long retryPause() {
		Backoff retries = this.retries;
		if (retries == null) {
			retries = Backoff.ofRequests();
			this.retries = retries;
		}
		return retries.next();
	}

	/**
	 * Fails unless the store has said that the key is busy.
	 */
	void requireBusy() {
		if (this.failure != null) {
			throw this.wait.isAllowed() ? Failures.inAllThatTime(this.claim.key(), this.wait.waited(), this.failure)
					: this.failure;
		}
		if (!this.wait.isBusy()) {
			throw Failures.notAsked(this.claim.key(), this.wait.limit());
		}
	}

	/**
	 * Undoes what was not answered, and leaves it to whoever comes next to take back what
	 * was granted. To be called if the request ends without a hold.
	 */
	void giveUp(QueueNode node) {
		if (this.mayBeGranted) {
			node.gaveUp(this.claim.owner());
		}
		if (this.unsettled) {
			this.context.sweeper().cleanUp(this.claim);
		}
	}

}
