package io.github.distributedlock.engine.queue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.engine.lease.Ownership;
import org.jspecify.annotations.Nullable;

/**
 * The requests of this JVM for one key, in the order of their arrival. Its fields are
 * guarded by the {@link LocalQueue}'s step for the key, but for those that say otherwise.
 */
final class KeyQueue {

	final Deque<QueueNode> waiting = new ArrayDeque<>(1);

	/**
	 * Wake-ups from the store that no request has consumed yet. Safe for any thread.
	 */
	final Semaphore wakeUps = new Semaphore(0);

	/**
	 * The request that asks the store or holds the lock. May be read by any thread.
	 */
	volatile QueueNode current;

	/**
	 * Whether requests wait behind the current one. May be read by any thread.
	 */
	volatile boolean crowded;

	/**
	 * Whether the store may know this JVM as a waiter; the current node inherits that.
	 */
	volatile boolean registered;

	/**
	 * What the store's last answer was, if it was a failure.
	 */
	volatile @Nullable LockBackendException failure;

	KeyQueue(QueueNode first) {
		this.current = first;
		first.join(this);
		first.granted.release();
	}

	/**
	 * How many requests wait here, one that asks the store included.
	 */
	int size() {
		boolean asks = !this.current.withdrawal && this.current.owner == null;
		return this.waiting.size() + (asks ? 1 : 0);
	}

	void add(QueueNode node) {
		this.waiting.add(node);
		this.crowded = true;
		node.join(this);
	}

	/**
	 * Puts a request in the place of a withdrawal that the store has not heard of.
	 */
	void takeOver(QueueNode node) {
		node.join(this);
		this.registered = true;
		this.current = node;
		node.granted.release();
	}

	/**
	 * Makes the next node the current one, or a withdrawal if the store may know of us.
	 * @return {@code false} if there is neither
	 */
	boolean next() {
		QueueNode next = this.waiting.poll();
		this.crowded = !this.waiting.isEmpty();
		if (next == null) {
			if (!this.registered && this.wakeUps.availablePermits() == 0) {
				return false;
			}
			next = this.current.withdrawal();
			next.join(this);
		}
		this.current = next;
		next.granted.release();
		return true;
	}

	/**
	 * Makes the next node the current one, and leaves a key to it.
	 * @return {@code false} if there is none that may have it
	 */
	boolean handOn(Ownership ownership, BooleanSupplier vacated) {
		QueueNode next = this.waiting.peek();
		if (next == null || !next.inherits || !vacated.getAsBoolean()) {
			return false;
		}
		next.inherit(ownership);
		return next();
	}

	/**
	 * Lets everybody here see whether the engine still serves them.
	 */
	void recall() {
		wake();
		this.waiting.forEach((node) -> node.granted.release());
	}

	void wake() {
		if (this.current.owner == null) {
			this.wakeUps.release();
		}
	}

}
