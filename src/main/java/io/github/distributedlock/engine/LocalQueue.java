package io.github.distributedlock.engine;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Consumer;
import java.util.function.Function;

import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.LocalKey.Entry;
import io.github.distributedlock.engine.LocalKey.Heard;
import io.github.distributedlock.engine.LocalKey.Keeper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The keys of this JVM that requests hold or wait for, that stay here, or that are being
 * withdrawn from. Lets one request of this JVM at a time talk to the store about a key,
 * first come first served; the others cost the store nothing.
 * <p>
 * Invariants: a key is here exactly until it has {@linkplain LocalKey#isGone() gone}.
 * Whoever finds that a key has gone removes the key, and goes on with a new one. So no
 * thread waits for another to remove a key.
 * <p>
 * Each fair request for a key has a place of its own in the store, and the first one
 * polls for all of them. These polls keep all places alive, even while a request of this
 * JVM holds the lock, and find the request whose notification was lost. A request that
 * becomes the first is woken, since it may have waited without polls. That request asks
 * at once, since the last poll may be as old as the pause between two polls. Safe for use
 * by many threads.
 */
final class LocalQueue implements LocalKey.Home {

	private static final Logger logger = LoggerFactory.getLogger(LocalQueue.class);

	private final Map<QueueKey, LocalKey> keys = new ConcurrentHashMap<>();

	/**
	 * The fair requests for each key. The first one of a key polls.
	 */
	private final Map<String, Set<Entry>> tickets = new ConcurrentHashMap<>();

	/**
	 * Hashes of keys that had to be waited for when they were acquired last, as many as
	 * there is room for: a mistake costs one command at most.
	 */
	private final AtomicIntegerArray contended = new AtomicIntegerArray(1024);

	private final Consumer<LocalKey> withdrawals;

	private final Keeper keeper;

	/**
	 * Creates empty queues.
	 * @param withdrawals is to tell the store that no local request waits, and then to
	 * end the withdrawal, even if telling the store fails
	 * @param keeper sees to keys that stay here while no request uses them
	 */
	LocalQueue(Consumer<LocalKey> withdrawals, Keeper keeper) {
		this.withdrawals = withdrawals;
		this.keeper = keeper;
	}

	@Override
	public Keeper keeper() {
		return this.keeper;
	}

	@Override
	public void ended(LocalKey key) {
		if (key.isGone()) {
			this.keys.remove(key.queueKey(), key);
		}
		else {
			this.withdrawals.accept(key);
		}
	}

	/**
	 * Enters the queue of a key.
	 * @param mayWait whether to queue up if the key is held or queued for here
	 * @param inherits whether the entry before may leave the key to the new entry
	 * @param wait the wait of the request
	 * @return the entry, to be {@linkplain Entry#leave left}, or {@code null} if the
	 * entry may not wait. An entry that may not wait takes over a withdrawal that has not
	 * begun. If the withdrawal has begun, the entry lets the withdrawal end, which takes
	 * one command: the lock may be free.
	 */
	@Nullable Entry enter(QueueKey queueKey, boolean mayWait, boolean inherits, Wait wait) {
		while (true) {
			LocalKey key = this.keys.get(queueKey);
			if (key == null) {
				Entry first = LocalKey.first(queueKey, this, inherits, wait);
				key = this.keys.putIfAbsent(queueKey, first.key());
				if (key == null) {
					return first;
				}
			}
			Entry entry = key.enter(mayWait, inherits, wait);
			if (entry != null || !key.isGone()) {
				return entry;
			}
			this.keys.remove(queueKey, key);
		}
	}

	/**
	 * Returns what is known of a key; {@code null} if no request waits for the key or
	 * holds the key, and the key does not stay here.
	 */
	@Nullable LocalKey find(QueueKey queueKey) {
		return this.keys.get(queueKey);
	}

	/**
	 * Creates an entry beside the queue, for a request that asks out of turn.
	 */
	Entry beside(QueueKey queueKey, Wait wait) {
		return LocalKey.beside(queueKey, this, wait);
	}

	/**
	 * Takes note that others have asked for the key of an owner.
	 * @return whether the key stays here unused, and will be released
	 */
	boolean recall(String key, String owner) {
		LocalKey found = find(new QueueKey(key, Waiter.exclusive(Claim.instanceOf(owner))));
		return found != null && found.recall(owner);
	}

	/**
	 * Returns whether this JVM had to wait for a key the last time, and so will have to
	 * wait again. Then a request registers with its first attempt, instead of making two
	 * attempts.
	 */
	boolean isContended(String key) {
		int hash = QueueKey.hash(key);
		return this.contended.get(hash & 1023) == hash;
	}

	/**
	 * Takes note that a key was acquired.
	 * @param waited whether the key had to be waited for
	 */
	void acquired(String key, boolean waited) {
		if (isContended(key) != waited) {
			int hash = QueueKey.hash(key);
			this.contended.set(hash & 1023, waited ? hash : 0);
		}
	}

	/**
	 * Joins the fair requests for a key. One of them polls.
	 */
	void joinTickets(Entry entry) {
		this.tickets.compute(entry.key().queueKey().key(), (key, present) -> {
			Set<Entry> tickets = (present != null) ? present : new LinkedHashSet<>();
			entry.setPoller(tickets.isEmpty());
			tickets.add(entry);
			return tickets;
		});
	}

	/**
	 * Leaves the fair requests for a key: the request holds the lock, or has given up.
	 */
	void leaveTickets(Entry entry) {
		this.tickets.computeIfPresent(entry.key().queueKey().key(), (key, tickets) -> {
			if (tickets.remove(entry) && entry.isPoller() && !tickets.isEmpty()) {
				Entry next = tickets.iterator().next();
				next.setPoller(true);
				next.key().wake();
			}
			return tickets.isEmpty() ? null : tickets;
		});
	}

	/**
	 * Takes a wake-up of the store to the queue of a waiter.
	 */
	void wake(QueueKey queueKey) {
		signal(queueKey, LocalKey::wake);
	}

	/**
	 * Takes a key that the store has granted to a waiter to the queue of that waiter.
	 * @return {@code false} if the key has to be released, since another owner has the
	 * key
	 */
	boolean granted(QueueKey queueKey, ReleaseNotification grant, String owner) {
		return signal(queueKey, (key) -> key.granted(grant, owner)) == Heard.NOTED;
	}

	/**
	 * Takes a message of the store to a queue. If there is no queue, a withdrawal passes
	 * the message on.
	 */
	private Heard signal(QueueKey queueKey, Function<LocalKey, Heard> step) {
		while (true) {
			LocalKey withdrawing = LocalKey.withdrawing(queueKey, this);
			LocalKey present = this.keys.putIfAbsent(queueKey, withdrawing);
			LocalKey key = (present != null) ? present : withdrawing;
			Heard heard = step.apply(key);
			if (present == null) {
				this.withdrawals.accept(key);
			}
			if (heard != Heard.GONE) {
				return heard;
			}
			this.keys.remove(queueKey, key);
		}
	}

	/**
	 * Lets every current entry ask the store once more.
	 */
	void wakeAll() {
		this.keys.values().forEach(LocalKey::wake);
	}

	/**
	 * Lets every waiting request notice that the engine was stopped. A current entry that
	 * is served all the same asks the store once more.
	 */
	void nudgeAll() {
		this.keys.values().forEach(LocalKey::nudge);
	}

	/**
	 * Describes to users which requests wait for each key, or ask the store for it.
	 */
	Map<String, EngineSnapshot.Queue> describe() {
		Map<String, EngineSnapshot.Queue> described = new HashMap<>();
		this.keys.values().forEach((key) -> {
			EngineSnapshot.Queue one = key.describe();
			if (one.length() > 0) {
				described.merge(key.queueKey().key(), one, LocalQueue::sum);
			}
		});
		return described;
	}

	private static EngineSnapshot.Queue sum(EngineSnapshot.Queue one, EngineSnapshot.Queue other) {
		boolean longer = one.longestWait().compareTo(other.longestWait()) > 0;
		return new EngineSnapshot.Queue(one.length() + other.length(), (longer ? one : other).longestWait());
	}

	boolean isEmpty() {
		return this.keys.isEmpty();
	}

	/**
	 * Tells the store in the background that no local request waits for a key any more.
	 * The store then passes on a wake-up that was meant for this JVM, and a key that was
	 * granted to this JVM. If the store cannot be told, or no thread can be had for that,
	 * the registration and the reservation run out by themselves, and a key that may have
	 * been granted is cleaned up.
	 */
	record Withdrawals(LockBackend backend, Leases leases, NodeTasks tasks) implements Consumer<LocalKey> {

		@Override
		public void accept(LocalKey key) {
			Failures.orUndo(
					() -> this.tasks.run(NodeTasks.node(this.backend, key.queueKey().key()), () -> end(key, true)),
					() -> end(key, false));
		}

		private void end(LocalKey key, boolean hasThread) {
			Set<String> unwanted = key.beginWithdrawal();
			if (unwanted == null) {
				return;
			}
			boolean withdrawn = false;
			try {
				withdrawn = hasThread && tryWithdraw(key, unwanted);
			}
			finally {
				try {
					if (!withdrawn) {
						unwanted.forEach((owner) -> this.leases.sweeper().forget(key.queueKey().claim(owner)));
					}
				}
				finally {
					key.endWithdrawal(unwanted);
				}
			}
		}

		private boolean tryWithdraw(LocalKey local, Set<String> unwanted) {
			String key = local.queueKey().key();
			try {
				this.backend.withdraw(key, local.queueKey().waiter(), unwanted);
				local.failed(null);
				return true;
			}
			catch (RuntimeException ex) {
				logger.debug("Could not withdraw from lock '{}'", LockException.printable(key), ex);
				local.failed(Failures.asBackendException("withdraw", key, ex));
				return false;
			}
		}

	}

}
