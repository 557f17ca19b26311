package io.github.distributedlock.engine;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;

import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.KeyQueue.QueueKey;
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
 * Invariants: a queue exists exactly while it has a current entry. Entries become current
 * in the order in which they entered. Registering and withdrawing are never under way at
 * the same time, since only the current entry does either. A newcomer takes the place of
 * a withdrawal that has not begun, and takes over the registration. A wake-up is kept for
 * the current entry until the entry consumes the wake-up, or a withdrawal passes the
 * wake-up on.
 * <p>
 * A key that was left to a request which has not woken up yet may be borrowed. A key that
 * stays here while no request uses it may be borrowed, too, under an entry without a
 * request. Such an entry leaves when the store has answered the release, so that a
 * request which comes meanwhile finds the key free.
 * <p>
 * Each fair request for a key has a place of its own in the store, and the first one
 * polls for all of them. These polls keep all places alive, even while a request of this
 * JVM holds the lock, and find the request whose notification was lost. A request that
 * becomes the first is woken, since it may have waited without polls. That request asks
 * at once, since the last poll may be as old as the pause between two polls.
 */
final class LocalQueue {

	private final Map<QueueKey, KeyQueue> queues = new ConcurrentHashMap<>();

	/**
	 * The fair requests for each key. The first one of a key polls.
	 */
	private final Map<String, Set<QueueEntry>> tickets = new ConcurrentHashMap<>();

	/**
	 * Hashes of keys that had to be waited for when they were acquired last, as many as
	 * there is room for: a mistake costs one command at most.
	 */
	private final AtomicIntegerArray contended = new AtomicIntegerArray(1024);

	private final BiConsumer<LocalQueue, QueueEntry> withdrawals;

	/**
	 * Keys that stay here while no request uses them.
	 */
	final KeptKeys kept;

	/**
	 * Creates empty queues.
	 * @param withdrawals is to tell the store that no local request waits, and then to
	 * leave the queue, even if telling the store fails
	 * @param kept sees to keys that stay here while no request uses them
	 */
	LocalQueue(BiConsumer<LocalQueue, QueueEntry> withdrawals, KeptKeys kept) {
		this.withdrawals = withdrawals;
		this.kept = kept;
	}

	/**
	 * Enters the queue of a key.
	 * @param mayWait whether to queue up if the key is held or queued for here
	 * @param inherits whether the entry before may leave the key to the new entry
	 * @param wait the wait of the request
	 * @return the entry, to be {@linkplain #leave left}, or {@code null} if the entry may
	 * not wait. An entry that may not wait takes over a withdrawal that has not begun. If
	 * the withdrawal has begun, the entry lets the withdrawal end, which takes one
	 * command: the lock may be free.
	 */
	@Nullable QueueEntry enter(QueueKey queueKey, boolean mayWait, boolean inherits, @Nullable Wait wait) {
		QueueEntry entry = new QueueEntry(this, queueKey, false, inherits, wait);
		// Mostly the entry is alone, and then needs none of the objects of a step.
		if (!this.queues.containsKey(queueKey)) {
			if (this.queues.putIfAbsent(queueKey, new KeyQueue(entry)) == null) {
				return entry;
			}
			entry = new QueueEntry(this, queueKey, false, inherits, wait);
		}
		return enter(entry, mayWait) ? entry : null;
	}

	private boolean enter(QueueEntry entry, boolean mayWait) {
		this.queues.compute(entry.queueKey, (same, queue) -> {
			if (queue == null) {
				return new KeyQueue(entry);
			}
			boolean unused = queue.isUnused();
			if (!(unused && queue.takeOver(entry))) {
				entry.followsWithdrawal = unused && queue.current.givesWay();
				if (mayWait || entry.followsWithdrawal) {
					queue.add(entry);
				}
			}
			return queue;
		});
		QueueEntry keeping = entry.followsWithdrawal ? keeping(entry.queueKey) : null;
		if (keeping != null) {
			this.kept.end(keeping);
		}
		return entry.hasJoined();
	}

	/**
	 * Leaves a queue. Only the first call has an effect.
	 */
	void leave(QueueEntry entry) {
		startWithdrawal(this.queues.computeIfPresent(entry.queueKey, entry));
	}

	/**
	 * Removes the entry of a hold, and leaves the key to the next entry, or lets the key
	 * stay here.
	 * @return {@code false} if no entry may have the key and the key does not stay, or if
	 * the hold has lost the key
	 */
	boolean handOver(QueueEntry entry, Hold hold) {
		Ownership ownership = hold.ownership();
		QueueEntry keeping = mayKeep(ownership, false) ? entry.keeping(ownership) : null;
		boolean done = (keeping != null || entry.queue().crowded)
				&& handOver(entry, ownership, () -> ownership.vacate(hold), keeping);
		if (keeping != null) {
			this.kept.returned(keeping, false);
		}
		return done;
	}

	private boolean handOver(QueueEntry entry, Ownership ownership, BooleanSupplier vacated,
			@Nullable QueueEntry keeping) {
		return step(entry.queueKey, (queue) -> queue.current == entry && queue.handOver(ownership, vacated, keeping));
	}

	private boolean mayKeep(Ownership ownership, boolean stays) {
		return ownership.keepTime() > 0 && this.kept.mayKeep(ownership, stays);
	}

	/**
	 * Begins to release a key that stays here, so that no request takes the key any more.
	 * @return {@code false} if the key does not stay, or is in use
	 */
	boolean endStay(QueueEntry entry, Ownership ownership) {
		return step(entry.queueKey,
				(queue) -> queue.current == entry && (ownership.beginRelease() || ownership.isLost()));
	}

	/**
	 * Returns the entry under which a key stays here; {@code null} if there is none.
	 */
	@Nullable QueueEntry keeping(QueueKey queueKey) {
		KeyQueue queue = this.queues.get(queueKey);
		return (queue != null && queue.current.isKept()) ? queue.current : null;
	}

	/**
	 * Takes note that others have asked for the key of an owner.
	 * @return whether the key stays here unused, and will be released
	 */
	boolean recall(String key, String owner) {
		QueueKey queueKey = new QueueKey(key, Waiter.exclusive(Claim.instanceOf(owner)));
		ifPresent(queueKey, (queue) -> {
			if (queue.current.owner == null || owner.equals(queue.current.owner)) {
				queue.recalled = owner;
			}
		});
		QueueEntry keeping = keeping(queueKey);
		if (keeping == null || !owner.equals(keeping.owner)) {
			return false;
		}
		boolean isUnused = !keeping.isLent();
		this.kept.recalled(keeping);
		return isUnused;
	}

	/**
	 * Removes an entry whose request did not get the lock. A key that was left to the
	 * entry is left to the next one, even if the key is borrowed.
	 * @param unwanted gets the key that was left to the entry, if there is no next one
	 */
	void abandon(QueueEntry entry, Consumer<Ownership> unwanted) {
		// The entry may still be left a key until the entry is gone.
		step(entry.queueKey, (queue) -> queue.current != entry && queue.remove(entry));
		Ownership left = entry.inherited();
		boolean handedOver = left != null && handOver(entry, left, left::isOwned, null);
		try {
			leave(entry);
		}
		finally {
			if (left != null && !handedOver) {
				unwanted.accept(left);
			}
		}
	}

	/**
	 * Borrows the key that was left to the current request of a queue.
	 * @return {@code null} if there is no such key, or the key may not be borrowed
	 */
	@Nullable Loan borrow(QueueKey queueKey) {
		KeyQueue queue = this.queues.get(queueKey);
		if (queue == null) {
			return null;
		}
		QueueEntry current = queue.current;
		Ownership lendable = current.lendable();
		return (lendable != null) ? new Loan(this, current, lendable) : null;
	}

	/**
	 * Returns whether this JVM had to wait for a key the last time, and so will have to
	 * wait again. Then a request registers with its first attempt, instead of making two
	 * attempts.
	 */
	boolean isContended(String key) {
		int hash = hash(key);
		return this.contended.get(hash & 1023) == hash;
	}

	/**
	 * Takes note that a key was acquired.
	 * @param waited whether the key had to be waited for
	 */
	void acquired(String key, boolean waited) {
		if (isContended(key) != waited) {
			this.contended.set(hash(key) & 1023, waited ? hash(key) : 0);
		}
	}

	/**
	 * Returns whether one more request will probably have to wait: this JVM had to wait
	 * for the key the last time, or the store knows this JVM as a waiter.
	 */
	boolean isBusy(QueueKey queueKey) {
		KeyQueue queue = this.queues.get(queueKey);
		return isContended(queueKey.key()) || (queue != null && queue.registered);
	}

	/**
	 * Returns the hash of a key, whose lower bits choose a place in a table.
	 */
	static int hash(String key) {
		int hash = key.hashCode();
		return (hash ^ (hash >>> 16)) | 1 << 31; // Not 0, which stands for no hash.
	}

	/**
	 * Joins the fair requests for a key. One of them polls.
	 */
	void joinTickets(QueueEntry entry) {
		this.tickets.compute(entry.key(), (key, present) -> {
			Set<QueueEntry> tickets = (present != null) ? present : new LinkedHashSet<>();
			entry.poller = tickets.isEmpty();
			tickets.add(entry);
			return tickets;
		});
	}

	/**
	 * Leaves the fair requests for a key: the request holds the lock, or has given up.
	 */
	void leaveTickets(QueueEntry entry) {
		this.tickets.computeIfPresent(entry.key(), (key, tickets) -> {
			if (tickets.remove(entry) && entry.poller && !tickets.isEmpty()) {
				QueueEntry next = tickets.iterator().next();
				next.poller = true;
				next.queue().wake();
			}
			return tickets.isEmpty() ? null : tickets;
		});
	}

	/**
	 * Takes a wake-up of the store to the queue of a waiter.
	 */
	void wake(QueueKey queueKey) {
		signal(queueKey, (queue) -> {
			queue.wake();
			return true;
		});
	}

	/**
	 * Takes a key that the store has granted to a waiter to the queue of that waiter.
	 * @return {@code false} if the key has to be released, since another owner has the
	 * key
	 */
	boolean granted(QueueKey queueKey, ReleaseNotification grant, String owner) {
		return signal(queueKey, (queue) -> queue.granted(grant, owner));
	}

	/**
	 * Takes a message of the store to a queue. If there is no queue, a withdrawal passes
	 * the message on.
	 */
	private boolean signal(QueueKey queueKey, Predicate<KeyQueue> step) {
		AtomicBoolean done = new AtomicBoolean();
		startWithdrawal(this.queues.compute(queueKey, (same, present) -> {
			KeyQueue queue = (present != null) ? present
					: new KeyQueue(new QueueEntry(this, queueKey, true, false, null));
			done.set(step.test(queue));
			return queue;
		}));
		return done.get();
	}

	/**
	 * Wakes the current entry of a queue, if there is a queue.
	 */
	void wakeIfWaiting(QueueKey queueKey) {
		ifPresent(queueKey, KeyQueue::wake);
	}

	/**
	 * Lets every current entry ask the store once more.
	 */
	void wakeAll() {
		this.queues.keySet().forEach(this::wakeIfWaiting);
	}

	/**
	 * Lets every waiting request notice that the engine was stopped. A current entry that
	 * is served all the same asks the store once more.
	 */
	void nudgeAll() {
		this.queues.keySet().forEach((queueKey) -> ifPresent(queueKey, KeyQueue::nudge));
	}

	/**
	 * Returns the failure of the store's last answer about a key; {@code null} if that
	 * answer was no failure.
	 */
	@Nullable LockBackendException failure(QueueKey queueKey) {
		KeyQueue queue = this.queues.get(queueKey);
		return (queue != null) ? queue.failure : null;
	}

	/**
	 * Returns the owner token of the hold that others queue up behind.
	 */
	@Nullable String holder(QueueKey queueKey) {
		KeyQueue queue = this.queues.get(queueKey);
		return (queue != null) ? queue.current.owner : null;
	}

	/**
	 * Describes to users which requests wait for each key, or ask the store for it.
	 */
	Map<String, EngineSnapshot.Queue> describe() {
		Map<String, EngineSnapshot.Queue> described = new HashMap<>();
		this.queues.keySet().forEach((queueKey) -> ifPresent(queueKey, (queue) -> {
			EngineSnapshot.Queue one = queue.describe();
			if (one.length() > 0) {
				described.merge(queueKey.key(), one, LocalQueue::sum);
			}
		}));
		return described;
	}

	private static EngineSnapshot.Queue sum(EngineSnapshot.Queue one, EngineSnapshot.Queue other) {
		boolean longer = one.longestWait().compareTo(other.longestWait()) > 0;
		return new EngineSnapshot.Queue(one.length() + other.length(), (longer ? one : other).longestWait());
	}

	boolean isEmpty() {
		return this.queues.isEmpty();
	}

	private void ifPresent(QueueKey queueKey, Consumer<KeyQueue> action) {
		step(queueKey, (queue) -> {
			action.accept(queue);
			return true;
		});
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
	 * Starts the withdrawal if the current entry is one. Called outside the step for the
	 * key, since the withdrawal makes a step of its own when it leaves.
	 */
	private void startWithdrawal(@Nullable KeyQueue queue) {
		QueueEntry current = (queue != null) ? queue.current : null;
		if (current != null && current.withdrawal && current.takeTurn()) {
			this.withdrawals.accept(this, current);
		}
	}

	/**
	 * A borrowed key. Either the key was left to the current request of a queue, which
	 * has not woken up yet, or the key stays here. The borrower has no entry of its own.
	 * The borrower gives the key back to the request that is current then, or lets the
	 * key stay.
	 *
	 * @param entry the entry that the key was left to
	 */
	record Loan(LocalQueue queues, QueueEntry entry, Ownership ownership) implements Hold.Entry {

		/**
		 * Returns whether the key stays here, and no request has come for the key.
		 */
		boolean isKept() {
			return this.entry.isKept();
		}

		@Override
		public boolean handOver(Hold borrower) {
			QueueEntry keeping = isKept() && this.queues.mayKeep(this.ownership, true) ? this.entry : null;
			boolean done = this.queues.step(this.entry.queueKey, (queue) -> giveBack(queue, borrower, keeping));
			if (keeping != null) {
				this.queues.kept.returned(keeping, true);
			}
			return done;
		}

		private boolean giveBack(KeyQueue queue, Hold borrower, @Nullable QueueEntry keeping) {
			if (isKept() && queue.current == this.entry) {
				return queue.handOver(this.ownership, () -> this.ownership.vacate(borrower), keeping);
			}
			boolean returned = queue.current.inherited() == this.ownership && this.ownership.vacate(borrower);
			if (returned) {
				queue.current.inheritanceChanged();
			}
			return returned;
		}

		/**
		 * Called if the key is left to no local request, and does not stay here.
		 */
		@Override
		public void leave() {
			this.queues.ifPresent(this.entry.queueKey, (queue) -> queue.current.inheritanceChanged());
			if (isKept()) {
				this.queues.leave(this.entry);
			}
		}

	}

}
