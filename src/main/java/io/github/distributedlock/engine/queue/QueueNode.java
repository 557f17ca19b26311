package io.github.distributedlock.engine.queue;

import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.Ownership;
import io.github.distributedlock.engine.lease.QueuePlace;
import org.jspecify.annotations.Nullable;

/**
 * One request's place in the queue of its key. While it is the current one it may talk to
 * the store about the key; it stays current for as long as the lock is held.
 */
final class QueueNode implements QueuePlace {

	/**
	 * So many others get ahead of one that is waking up. As many as one that runs manages
	 * in that time anyway, so that all of them get the same number.
	 */
	static final int MOST_LOANS = 16;

	private final LocalQueue localQueue;

	final String key;

	final QueueKey queueKey;

	/**
	 * Whether it only tells the store that nobody here waits any more.
	 */
	final boolean withdrawal;

	final Semaphore granted = new Semaphore(0);

	/**
	 * Whether it may be left a key that is handed on.
	 */
	final boolean inherits;

	/**
	 * Whether there was only a withdrawal ahead of it: nobody here has the key or waits
	 * for it. Confined to the requesting thread.
	 */
	boolean followsWithdrawal;

	private final AtomicBoolean begun = new AtomicBoolean();

	/**
	 * Whether it asks the store of its own accord while it waits; changed only by
	 * {@link FairPollers}.
	 */
	volatile boolean poller = true;

	/**
	 * The owner token of the hold that it has become, so that wake-ups do not concern it.
	 */
	volatile @Nullable String owner;

	private volatile @Nullable KeyQueue queue;

	private volatile @Nullable Ownership inherited;

	private volatile boolean insisting;

	/**
	 * How often that key was lent, more or less.
	 */
	private volatile int loans;

	QueueNode(LocalQueue localQueue, QueueKey queueKey, boolean withdrawal, boolean inherits) {
		this.localQueue = localQueue;
		this.key = queueKey.key();
		this.queueKey = queueKey;
		this.withdrawal = withdrawal;
		this.inherits = inherits;
	}

	/**
	 * A node in no queue, for a request that asks out of turn.
	 */
	static QueueNode beside(LocalQueue localQueue, QueueKey queueKey) {
		return new KeyQueue(new QueueNode(localQueue, queueKey, false, false)).current;
	}

	/**
	 * One that comes after it, and only tells the store that nobody waits any more.
	 */
	QueueNode withdrawal() {
		return new QueueNode(this.localQueue, this.queueKey, true, false);
	}

	@Override
	public boolean handOn(Hold hold) {
		return this.localQueue.handOn(this, hold);
	}

	@Override
	public void leave() {
		this.localQueue.leave(this);
	}

	void inherit(Ownership ownership) {
		this.inherited = ownership;
	}

	/**
	 * The key that the turn before has left to this one.
	 */
	@Nullable Ownership inherited() {
		return this.inherited;
	}

	/**
	 * The key that was left to this turn, as long as nobody has it: others may borrow it
	 * a few times, until this one has come for it in vain.
	 */
	@Nullable Ownership lendable() {
		Ownership inherited = this.inherited;
		if (inherited == null || this.insisting || this.loans >= MOST_LOANS || !inherited.isVacant()) {
			return null;
		}
		this.loans = this.loans + 1;
		return inherited;
	}

	/**
	 * Lets nobody borrow the key any more that was left to this turn.
	 */
	void insist() {
		this.insisting = true;
	}

	/**
	 * Something has happened to the key that was left to this turn.
	 */
	void inheritanceChanged() {
		if (this.insisting) {
			this.granted.release();
		}
	}

	void join(KeyQueue queue) {
		this.queue = queue;
	}

	/**
	 * Whether others seem to wait behind it. One that comes just now may be missed.
	 */
	boolean hasFollowers() {
		return queue().crowded;
	}

	boolean hasJoined() {
		return this.queue != null;
	}

	/**
	 * Begins a withdrawal, or takes it over before it has begun.
	 * @return {@code false} if that has been done
	 */
	boolean begin() {
		return this.begun.compareAndSet(false, true);
	}

	/**
	 * Whether it has come. A stop grants it, too, so that who waits for it takes notice.
	 */
	boolean isCurrent() {
		return queue().current == this;
	}

	boolean isRegistered() {
		return queue().registered;
	}

	/**
	 * To be called before a registration is sent: it counts even if no answer comes.
	 */
	void registering() {
		queue().registered = true;
	}

	/**
	 * The store has given the lock, and has forgotten the registration with it.
	 */
	void acquired(String owner) {
		this.owner = owner;
		settled();
	}

	/**
	 * The store has forgotten the registration.
	 */
	void settled() {
		queue().registered = false;
		queue().wakeUps.drainPermits();
	}

	void answered() {
		queue().failure = null;
	}

	void failed(LockBackendException failure) {
		queue().failure = failure;
	}

	@Nullable LockBackendException failure() {
		return queue().failure;
	}

	/**
	 * Wakes who waits in this turn.
	 */
	void wake() {
		queue().wake();
	}

	/**
	 * Waits until the store sends a wake-up, one that came before included.
	 * @return whether there was one in time
	 */
	boolean awaitWakeUp(Wait wait, long nanos) throws InterruptedException {
		boolean woken = wait.await(queue().wakeUps, nanos);
		if (woken) {
			queue().wakeUps.drainPermits();
		}
		return woken;
	}

	private KeyQueue queue() {
		KeyQueue queue = this.queue;
		if (queue == null) {
			throw new IllegalStateException("No node for lock " + LockException.printable(this.key));
		}
		return queue;
	}

}
