package io.github.distributedlock.engine.queue;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.Ownership;
import io.github.distributedlock.engine.runtime.Undo;
import org.jspecify.annotations.Nullable;

/**
 * Lets one thread of this JVM at a time talk to the store about a key, first come first
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
 * Invariants: a queue exists exactly while it has a current turn. Turns become current in
 * the order in which they entered. Registering and withdrawing are never under way at the
 * same time, since both need the turn; a newcomer takes the turn of a withdrawal that has
 * not begun, and the registration with it. A wake-up is kept for whoever has the turn
 * until it is consumed, or passed on by a withdrawal if nobody has.
 */
public final class LocalQueue {

	private final Map<QueueKey, KeyQueue> queues = new ConcurrentHashMap<>();

	private final BiConsumer<LocalQueue, QueueNode> withdrawals;

	/**
	 * Creates empty queues.
	 * @param withdrawals is to tell the store that nobody waits, and then to leave
	 */
	public LocalQueue(BiConsumer<LocalQueue, QueueNode> withdrawals) {
		this.withdrawals = withdrawals;
	}

	/**
	 * Takes a place in a key's queue.
	 * @param mayWait whether to queue up if the key is held or queued for here
	 * @param inherits whether the turn before may leave the key to it
	 * @return the place, to be {@linkplain #leave left}, or {@code null} if it may not
	 * wait. One that may not wait takes over a withdrawal that has not begun, and lets
	 * one end that has, which takes one command: the lock may be free.
	 */
	public @Nullable QueueNode enter(QueueKey waiter, boolean mayWait, boolean inherits) {
		QueueNode node = new QueueNode(waiter, false, inherits);
		this.queues.compute(waiter, (same, queue) -> {
			if (queue == null) {
				return new KeyQueue(node);
			}
			boolean nobodyElse = queue.current.withdrawal && queue.waiting.isEmpty();
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
		startWithdrawal(this.queues.computeIfPresent(node.waiter, (same, queue) -> {
			if (queue.current != node) {
				queue.waiting.remove(node);
				return queue;
			}
			return queue.next() ? queue : null;
		}));
	}

	/**
	 * Gives up a place whose hold has ended, and leaves the key to the next one; or gives
	 * a borrowed key back to the current one.
	 * @return {@code false} if there is none that may have it, or the hold has lost it
	 */
	public boolean handOn(Hold hold) {
		QueueNode node = hold.node;
		if (node != null && !node.hasFollowers()) {
			return false;
		}
		return (node == null) ? giveBack(hold) : handOn(node, hold.ownership, () -> hold.ownership.vacate(hold));
	}

	private boolean giveBack(Hold borrower) {
		return step(borrower.ownership.waiter, (queue) -> {
			boolean done = queue.current.inherited() == borrower.ownership && borrower.ownership.vacate(borrower);
			if (done) {
				queue.current.inheritanceChanged();
			}
			return done;
		});
	}

	/**
	 * A hold has ended, and has left the key to nobody here.
	 */
	public void ended(Hold hold) {
		QueueNode node = hold.node;
		if (node != null) {
			leave(node);
		}
		else {
			ifPresent(hold.ownership.waiter, (queue) -> queue.current.inheritanceChanged());
		}
	}

	/**
	 * The key that was left to the current turn, as long as it may be borrowed.
	 */
	@Nullable Ownership lendable(QueueKey waiter) {
		KeyQueue queue = this.queues.get(waiter);
		return (queue != null) ? queue.current.lendable() : null;
	}

	/**
	 * Gives up a place that nothing has come of. A key that was left to it is left to the
	 * next one, even if it is borrowed.
	 * @return the key that was left to it, if there is no next one and nobody has it
	 */
	@Nullable Ownership abandon(QueueNode node) {
		// It may still be left one until it is gone.
		step(node.waiter, (queue) -> queue.current != node && queue.waiting.remove(node));
		Ownership left = node.inherited();
		boolean handedOn = left != null && handOn(node, left, left::isOwned);
		leave(node);
		return (left != null && !handedOn && left.isVacant()) ? left : null;
	}

	private boolean handOn(QueueNode node, Ownership ownership, BooleanSupplier vacated) {
		return step(node.waiter, (queue) -> queue.current == node && queue.handOn(ownership, vacated));
	}

	private boolean step(QueueKey waiter, Predicate<KeyQueue> step) {
		AtomicBoolean done = new AtomicBoolean();
		this.queues.computeIfPresent(waiter, (same, queue) -> {
			done.set(step.test(queue));
			return queue;
		});
		return done.get();
	}

	/**
	 * The store has woken one that waited for a key.
	 */
	void wake(QueueKey waiter) {
		startWithdrawal(this.queues.compute(waiter, (same, queue) -> {
			if (queue == null) {
				return new KeyQueue(new QueueNode(waiter, true));
			}
			queue.wake();
			return queue;
		}));
	}

	/**
	 * Wakes one that waits, if it does.
	 */
	void wakeIfWaiting(QueueKey waiter) {
		ifPresent(waiter, KeyQueue::wake);
	}

	/**
	 * Lets every current turn ask the store once more.
	 */
	void wakeAll() {
		this.queues.keySet().forEach((waiter) -> ifPresent(waiter, KeyQueue::wake));
	}

	/**
	 * Lets everybody who waits notice that the engine was stopped. A current turn that is
	 * served all the same asks the store once more.
	 */
	public void recallAll() {
		this.queues.keySet().forEach((waiter) -> ifPresent(waiter, KeyQueue::recall));
	}

	/**
	 * What the store's last answer about a key was, if it was a failure.
	 */
	@Nullable LockBackendException failure(QueueKey waiter) {
		KeyQueue queue = this.queues.get(waiter);
		return (queue != null) ? queue.failure : null;
	}

	/**
	 * The owner token of the hold that others queue up behind.
	 */
	@Nullable String holder(QueueKey waiter) {
		KeyQueue queue = this.queues.get(waiter);
		return (queue != null) ? queue.current.owner : null;
	}

	public boolean isEmpty() {
		return this.queues.isEmpty();
	}

	private void ifPresent(QueueKey waiter, Consumer<KeyQueue> action) {
		this.queues.computeIfPresent(waiter, (same, queue) -> {
			action.accept(queue);
			return queue;
		});
	}

	/**
	 * Outside the step for the key, since a withdrawal comes back to leave.
	 */
	private void startWithdrawal(@Nullable KeyQueue queue) {
		QueueNode current = (queue != null) ? queue.current : null;
		if (current != null && current.withdrawal && current.granted.tryAcquire()) {
			Undo.ifFails(() -> this.withdrawals.accept(this, current), () -> {
				if (current.begin()) {
					current.settled();
					leave(current);
				}
			});
		}
	}

}
