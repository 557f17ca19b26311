package io.github.distributedlock.engine.queue;

import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.Ownership;
import io.github.distributedlock.engine.lease.QueuePlace;

/**
 * A key that was left to the current request of a queue and may be borrowed, since that
 * request has not woken up yet. The borrower has no place of its own: it gives the key
 * back to the request that is current then.
 *
 * @param queue the queues of this JVM
 * @param key which of them
 * @param ownership the key that is lent
 */
record Loan(LocalQueue queue, QueueKey key, Ownership ownership) implements QueuePlace {

	@Override
	public boolean handOn(Hold borrower) {
		return this.queue.giveBack(this, borrower);
	}

	@Override
	public void leave() {
		this.queue.loanEnded(this);
	}

}
