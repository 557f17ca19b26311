package io.github.distributedlock.engine.queue;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.HoldOptions;
import org.jspecify.annotations.Nullable;

/**
 * Acquires one key: queues up for it in this JVM, then asks the store for it, all under
 * one deadline. Safe for use by many threads: what changes is in the queue, and in the
 * loop of each request.
 */
public final class KeyAcquirer {

	private final AcquireContext context;

	public KeyAcquirer(AcquireContext context) {
		this.context = context;
	}

	/**
	 * Acquires a key, waiting on the calling thread.
	 * @return the hold, guarded, or {@code null} if the key was busy for as long as the
	 * request may wait
	 * @throws LockBackendException if the store failed, or the engine was stopped
	 * @throws InterruptedException if the thread was interrupted while it waited
	 */
	public @Nullable Hold acquire(String key, String owner, HoldOptions options, Wait wait)
			throws InterruptedException {
		int era = this.context.lifecycle().requireServed(key);
		Claim claim = options.claim(key, owner, this.context.instance().id());
		QueueKey queueKey = QueueKey.of(claim, this.context.instance());
		Hold borrowed = options.handedOn() ? borrow(queueKey, options) : null;
		if (borrowed != null) {
			return this.context.requireServed(borrowed, era);
		}
		AcquireLoop loop = begin(claim, queueKey, options, wait, era, null);
		if (loop == null) {
			return null;
		}
		wait.run(loop);
		return loop.hold();
	}

	/**
	 * Begins to acquire a key: takes a place in the local queue, or beside it. Does not
	 * wait, and asks nothing of the store.
	 * @param era when the request was made, and served
	 * @param waker the request, if no thread waits for it, else {@code null}
	 * @return what is to go on, or {@code null} if the key is held or queued for here and
	 * the request may not wait
	 * @throws LockBackendException if the store failed for those that it would wait for
	 */
	public @Nullable AcquireLoop begin(String key, String owner, HoldOptions options, Wait wait, int era,
			@Nullable Waker waker) {
		Claim claim = options.claim(key, owner, this.context.instance().id());
		return begin(claim, QueueKey.of(claim, this.context.instance()), options, wait, era, waker);
	}

	private @Nullable AcquireLoop begin(Claim claim, QueueKey queueKey, HoldOptions options, Wait wait, int era,
			@Nullable Waker waker) {
		QueueNode node = enter(queueKey, options, wait.isAllowed() && wait.mayAsk(), waker);
		if (node == null) {
			wait.requireNoFailure(claim.key(), this.context.queue().failure(queueKey));
			wait.sawLocally(this.context.queue().holder(queueKey));
			return null;
		}
		return new AcquireLoop(this.context, node, claim, options, wait, era);
	}

	private @Nullable QueueNode enter(QueueKey queueKey, HoldOptions options, boolean mayWait, @Nullable Waker waker) {
		if (options.isShared()) {
			return QueueNode.beside(this.context.queue(), queueKey, waker);
		}
		QueueNode node = this.context.queue().enter(queueKey, mayWait, options.handedOn(), waker);
		if (node != null && options.fair()) {
			this.context.fairPollers().join(node);
		}
		return node;
	}

	/**
	 * Takes a key that was left to a request which has not woken up yet.
	 */
	private @Nullable Hold borrow(QueueKey queueKey, HoldOptions options) {
		Loan loan = this.context.queue().borrow(queueKey);
		return (loan != null) ? this.context.handOver().take(loan.ownership(), loan, options) : null;
	}

}
