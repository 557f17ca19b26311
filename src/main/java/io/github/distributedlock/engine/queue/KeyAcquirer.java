package io.github.distributedlock.engine.queue;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.HoldOptions;
import io.github.distributedlock.engine.lease.Ownership;
import org.jspecify.annotations.Nullable;

/**
 * Acquires one key: queues up for it in this JVM, then asks the store for it, all under
 * one deadline. Safe for use by many threads: what changes is in the queue, and in the
 * loop of each request.
 */
public final class KeyAcquirer {

	private final AcquireContext context;

	private final LocalQueue queue;

	private final HandOver handOver;

	private final FairPollers fairPollers = new FairPollers();

	public KeyAcquirer(AcquireContext context) {
		this.context = context;
		this.queue = context.queue();
		this.handOver = context.handOver();
	}

	/**
	 * Acquires a key.
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
		QueueNode node = enter(queueKey, options, wait.isAllowed() && wait.mayAsk());
		if (node == null) {
			wait.requireNoFailure(key, this.queue.failure(queueKey));
			wait.sawLocally(this.queue.holder(queueKey));
			return null;
		}
		AcquireLoop loop = new AcquireLoop(this.context, node, claim, options, wait, era);
		Hold hold = null;
		try {
			hold = loop.run();
			return hold;
		}
		finally {
			if (options.fair()) {
				this.fairPollers.leave(node);
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
	 * Takes a key that was left to a request which has not woken up yet.
	 */
	private @Nullable Hold borrow(QueueKey queueKey, HoldOptions options) {
		Loan loan = this.queue.borrow(queueKey);
		return (loan != null) ? this.handOver.take(loan.ownership(), loan, options) : null;
	}

	private void abandon(QueueNode node) {
		Ownership left = this.queue.abandon(node);
		if (left != null) {
			this.handOver.abandon(left);
		}
	}

}
