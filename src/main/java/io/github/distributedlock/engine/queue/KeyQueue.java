package io.github.distributedlock.engine.queue;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;

import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.engine.lease.Ownership;
import org.jspecify.annotations.Nullable;

/**
 * The requests of this JVM for one key, in the order of their arrival. Its fields are
 * guarded by the {@link LocalQueue}'s step for the key, but for those that say otherwise.
 */
final class KeyQueue {

	/**
	 * Those behind the current one; {@code null} until there is one.
	 */
	private @Nullable Deque<QueueNode> waiting;

	/**
	 * Wake-ups from the store that no request has consumed yet; {@code null} until there
	 * is one, or a request that waits for one. Guarded by this.
	 */
	private @Nullable Semaphore wakeUps;

	/**
	 * How many of them are none of the store's. Guarded by this.
	 */
	private int recalls;

	/**
	 * {@code null} until something may be granted. Guarded by this.
	 */
	private @Nullable Grants grants;

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
	}

	/**
	 * How many requests wait here, one that asks the store included.
	 */
	int size() {
		return waiting().size() + (asks() ? 1 : 0);
	}

	private boolean asks() {
		return !this.current.withdrawal && this.current.owner == null;
	}

	/**
	 * Describes them to users.
	 */
	EngineSnapshot.Queue describe() {
		Duration longest = asks() ? this.current.waited() : Duration.ZERO;
		for (QueueNode node : waiting()) {
			Duration waited = node.waited();
			longest = (waited.compareTo(longest) > 0) ? waited : longest;
		}
		return new EngineSnapshot.Queue(size(), longest);
	}

	private Collection<QueueNode> waiting() {
		return (this.waiting != null) ? this.waiting : List.of();
	}

	/**
	 * Whether the current one is a withdrawal, and no request waits behind it.
	 */
	boolean isWithdrawalAlone() {
		return this.current.withdrawal && waiting().isEmpty();
	}

	void add(QueueNode node) {
		if (this.waiting == null) {
			this.waiting = new ArrayDeque<>();
		}
		this.waiting.add(node);
		this.crowded = true;
		node.joinBehind(this);
	}

	/**
	 * Lets a request go that waits, if it does.
	 */
	boolean remove(QueueNode node) {
		return this.waiting != null && this.waiting.remove(node);
	}

	/**
	 * Puts a request in the place of a withdrawal that the store has not heard of.
	 */
	void takeOver(QueueNode node) {
		node.join(this);
		this.registered = true;
		this.current = node;
	}

	/**
	 * Makes the next node the current one, or a withdrawal if the store may know of us.
	 * @return {@code false} if there is neither
	 */
	boolean next() {
		QueueNode next = (this.waiting != null) ? this.waiting.poll() : null;
		this.crowded = !waiting().isEmpty();
		if (next != null) {
			this.current = next;
			next.grant();
			return true;
		}
		boolean withdraws = this.registered || isWoken() || !unwanted().isEmpty();
		if (withdraws) {
			QueueNode withdrawal = this.current.withdrawal();
			withdrawal.join(this);
			this.current = withdrawal;
		}
		return withdraws;
	}

	/**
	 * Makes the next node the current one, and leaves a key to it.
	 * @return {@code false} if there is none that may have it
	 */
	boolean handOn(Ownership ownership, BooleanSupplier vacated) {
		QueueNode next = (this.waiting != null) ? this.waiting.peek() : null;
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
		if (this.current.owner == null) {
			synchronized (this) {
				this.recalls++;
			}
			signal();
		}
		this.current.inheritanceChanged();
		waiting().forEach(QueueNode::grant);
	}

	void wake() {
		if (this.current.owner == null) {
			signal();
		}
	}

	/**
	 * A grant was heard of.
	 * @return {@code false} if it has to be given back, since another owner has the key
	 */
	boolean granted(ReleaseNotification grant, String owner) {
		// The node tells first who has the key, and the grants only then.
		String holder = this.current.owner;
		if (holder != null) {
			return holder.equals(owner) || grants().isHeld(owner);
		}
		if (grants().heard(grant, owner)) {
			signal();
		}
		return true;
	}

	private void signal() {
		wakeUps().release();
		this.current.wakeUp();
	}

	/**
	 * Owners that may have been granted the key, and do not want it.
	 */
	Set<String> unwanted() {
		Grants grants = knownGrants();
		return (grants != null) ? grants.unwanted() : Set.of();
	}

	synchronized Grants grants() {
		if (this.grants == null) {
			this.grants = new Grants();
		}
		return this.grants;
	}

	synchronized @Nullable Grants knownGrants() {
		return this.grants;
	}

	synchronized Semaphore wakeUps() {
		if (this.wakeUps == null) {
			this.wakeUps = new Semaphore(0);
		}
		return this.wakeUps;
	}

	private synchronized boolean isWoken() {
		return this.wakeUps != null && this.wakeUps.availablePermits() > this.recalls;
	}

	synchronized void forgetWakeUps() {
		this.recalls = 0;
		if (this.wakeUps != null) {
			this.wakeUps.drainPermits();
		}
	}

}
