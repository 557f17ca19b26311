package io.github.distributedlock.engine.queue;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;

import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.Ownership;
import org.jspecify.annotations.Nullable;

/**
 * Lets one request of this JVM at a time talk to the store about a key, first come first
 * served; the others cost the store nothing.
 *
 * <pre>
 * enter ──► waiting ──► current: asks the store ──► current: holds ──► leave
 *              │ gives up          │ gives up                            │
 *              ▼                   ▼                                     ▼
 *            gone                leave ──► the next one is current, or, if the store
 *                                          may still know us as a waiter, a withdrawal
 *                                          is; or the queue vanishes
 * </pre>
 *
 * Invariants: a queue exists exactly while it has a current node. Nodes become current in
 * the order in which they entered. Registering and withdrawing are never under way at the
 * same time, since only the current node does either; a newcomer takes the place of a
 * withdrawal that has not begun, and the registration with it. A wake-up is kept for the
 * current node until it is consumed, or passed on by a withdrawal.
 */
public final class LocalQueue {

	private final Map<QueueKey, KeyQueue> queues = new ConcurrentHashMap<>();

	private final BiConsumer<LocalQueue, QueueNode> withdrawals;

	/**
	 * Creates empty queues.
	 * @param withdrawals is to tell the store that no local request waits, and then to
	 * leave, also if it fails
	 */
	public LocalQueue(BiConsumer<LocalQueue, QueueNode> withdrawals) {
		this.withdrawals = withdrawals;
	}

	/**
	 * Takes a place in a key's queue.
	 * @param mayWait whether to queue up if the key is held or queued for here
	 * @param inherits whether the node before may leave the key to it
	 * @param waker the request, if no thread waits for it, else {@code null}
	 * @return the place, to be {@linkplain #leave left}, or {@code null} if it may not
	 * wait. One that may not wait takes over a withdrawal that has not begun, and lets
	 * one end that has, which takes one command: the lock may be free.
	 */
	@Nullable QueueNode enter(QueueKey queueKey, boolean mayWait, boolean inherits, @Nullable Waker waker) {
		// Mostly alone, and then without what a step needs.
		if (!this.queues.containsKey(queueKey)) {
			QueueNode first = new QueueNode(this, queueKey, false, inherits, waker);
			if (this.queues.putIfAbsent(queueKey, new KeyQueue(first)) == null) {
				return first;
			}
		}
		QueueNode node = new QueueNode(this, queueKey, false, inherits, waker);
		this.queues.compute(queueKey, (same, queue) -> {
			if (queue == null) {
				return new KeyQueue(node);
			}
			boolean nobodyElse = queue.isWithdrawalAlone();
			if (nobodyElse && queue.current.begin()) {
				queue.takeOver(node);
			}
			else if (mayWait || nobodyElse) {
				node.followsWithdrawal = nobodyElse;
				queue.add(node);
			}
			return queue;
		});
		return node.hasJoined() ? node : null;
	}

	/**
	 * Gives up a place. Only the first call has an effect.
	 */
	void leave(QueueNode node) {
		startWithdrawal(this.queues.computeIfPresent(node.queueKey, (same, queue) -> {
			if (queue.current != node) {
				queue.remove(node);
				return queue;
			}
			return queue.next() ? queue : null;
		}));
	}

	/**
	 * Gives up the place of a hold, and leaves the key to the next one.
	 * @return {@code false} if there is none that may have it, or the hold has lost it
	 */
	boolean handOn(QueueNode node, Hold hold) {
		return node.hasFollowers() && handOn(node, hold.ownership(), () -> hold.ownership().vacate(hold));
	}

	/**
	 * Takes back a key that was lent.
	 * @return {@code false} if the request that it was left to has gone, or the borrower
	 * has lost it
	 */
	boolean giveBack(Loan loan, Hold borrower) {
		return step(loan.key(), (queue) -> {
			boolean done = queue.current.inherited() == loan.ownership() && loan.ownership().vacate(borrower);
			if (done) {
				queue.current.inheritanceChanged();
			}
			return done;
		});
	}

	/**
	 * A key that was lent is left to no local request.
	 */
	void loanEnded(Loan loan) {
		ifPresent(loan.key(), (queue) -> queue.current.inheritanceChanged());
	}

	/**
	 * Borrows the key that was left to the current request of a queue.
	 * @return {@code null} if there is none, or it may not be borrowed
	 */
	@Nullable Loan borrow(QueueKey queueKey) {
		KeyQueue queue = this.queues.get(queueKey);
		Ownership lendable = (queue != null) ? queue.current.lendable() : null;
		return (lendable != null) ? new Loan(this, queueKey, lendable) : null;
	}

	/**
	 * Gives up a place that nothing has come of. A key that was left to it is left to the
	 * next one, even if it is borrowed.
	 * @return the key that was left to it, if there is no next one and it is vacant
	 */
	@Nullable Ownership abandon(QueueNode node) {
		// It may still be left one until it is gone.
		step(node.queueKey, (queue) -> queue.current != node && queue.remove(node));
		Ownership left = node.inherited();
		boolean handedOn = left != null && handOn(node, left, left::isOwned);
		leave(node);
		return (left != null && !handedOn && left.isVacant()) ? left : null;
	}

	private boolean handOn(QueueNode node, Ownership ownership, BooleanSupplier vacated) {
		return step(node.queueKey, (queue) -> queue.current == node && queue.handOn(ownership, vacated));
	}

	private boolean step(QueueKey queueKey, Predicate<KeyQueue> step) {
		AtomicBoolean done = new AtomicBoolean();
		this.queues.computeIfPresent(queueKey, (same, queue) -> {
			done.set(step.test(queue));
			return queue;
		});
		return done.get();
	}

	/**
	 * The store has woken one that waited for a key.
	 */
	void wake(QueueKey queueKey) {
		startWithdrawal(this.queues.compute(queueKey, (same, queue) -> {
			if (queue == null) {
				return new KeyQueue(new QueueNode(this, queueKey, true, false, null));
			}
			queue.wake();
			return queue;
		}));
	}

	/**
	 * The store has granted a key to one that waited for it.
	 * @return {@code false} if it has to be given back, since another owner has the key
	 */
	boolean granted(QueueKey queueKey, ReleaseNotification grant, String owner) {
		AtomicBoolean known = new AtomicBoolean();
		startWithdrawal(this.queues.compute(queueKey, (same, queue) -> {
			KeyQueue hears = (queue != null) ? queue : new KeyQueue(new QueueNode(this, queueKey, true, false, null));
			known.set(hears.granted(grant, owner));
			return hears;
		}));
		return known.get();
	}

	/**
	 * Wakes one that waits, if it does.
	 */
	void wakeIfWaiting(QueueKey queueKey) {
		ifPresent(queueKey, KeyQueue::wake);
	}

	/**
	 * Lets every current node ask the store once more.
	 */
	void wakeAll() {
		this.queues.keySet().forEach((queueKey) -> ifPresent(queueKey, KeyQueue::wake));
	}

	/**
	 * Lets every waiting request notice that the engine was stopped. A current node that
	 * is served all the same asks the store once more.
	 */
	public void recallAll() {
		this.queues.keySet().forEach((queueKey) -> ifPresent(queueKey, KeyQueue::recall));
	}

	/**
	 * What the store's last answer about a key was, if it was a failure.
	 */
	@Nullable LockBackendException failure(QueueKey queueKey) {
		KeyQueue queue = this.queues.get(queueKey);
		return (queue != null) ? queue.failure : null;
	}

	/**
	 * The owner token of the hold that others queue up behind.
	 */
	@Nullable String holder(QueueKey queueKey) {
		KeyQueue queue = this.queues.get(queueKey);
		return (queue != null) ? queue.current.owner : null;
	}

	/**
	 * Describes to users which requests wait for each key, or ask the store for it.
	 */
	public Map<String, EngineSnapshot.Queue> describe() {
		Map<String, EngineSnapshot.Queue> described = new HashMap<>();
		this.queues.keySet().forEach((queueKey) -> ifPresent(queueKey, (queue) -> {
			if (queue.size() > 0) {
				described.merge(queueKey.key(), queue.describe(), LocalQueue::sum);
			}
		}));
		return described;
	}

	private static EngineSnapshot.Queue sum(EngineSnapshot.Queue one, EngineSnapshot.Queue other) {
		boolean longer = one.longestWait().compareTo(other.longestWait()) > 0;
		return new EngineSnapshot.Queue(one.length() + other.length(), (longer ? one : other).longestWait());
	}

	public boolean isEmpty() {
		return this.queues.isEmpty();
	}

	private void ifPresent(QueueKey queueKey, Consumer<KeyQueue> action) {
		this.queues.computeIfPresent(queueKey, (same, queue) -> {
			action.accept(queue);
			return queue;
		});
	}

	/**
	 * Outside the step for the key, since a withdrawal comes back to leave.
	 */
	private void startWithdrawal(@Nullable KeyQueue queue) {
		QueueNode current = (queue != null) ? queue.current : null;
		if (current != null && current.withdrawal && current.takeTurn()) {
			this.withdrawals.accept(this, current);
		}
	}

}
