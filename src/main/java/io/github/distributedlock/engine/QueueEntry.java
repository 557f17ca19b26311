package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.BiFunction;

import io.github.distributedlock.engine.KeyQueue.QueueKey;
import org.jspecify.annotations.Nullable;

/**
 * One request in the local queue of its key.
 *
 * <pre>
 * waiting ──► current: asks the store ──► current: holds the key ──► left
 *    │ gives up      │ gives up                                        ▲
 *    └───────────────┴─────────────────────────────────────────────────┘
 * </pre>
 *
 * Invariants: it joins one queue, once, and becomes current there at most once. It gets a
 * nudge when it does, if it had to wait for that, and another one by each stop, so that
 * it looks whether it is current; a request that no thread waits for is woken after each
 * nudge of its own, and of the queue while it is current. Only the current entry asks the
 * store, and only its registration is changed. A key is left to it before it gets its
 * nudge; that key is borrowed only while it is vacant, and not any more once the request
 * has come for it. An entry under which a key stays has no request: it is current from
 * the start, and its key may be borrowed again and again. A withdrawal begins once: by
 * its task, or by the request that takes it over. What is not volatile or final is
 * confined to the thread that runs the request.
 */
final class QueueEntry implements Hold.Entry, BiFunction<QueueKey, KeyQueue, @Nullable KeyQueue> {

	/**
	 * How many requests may borrow a key before the request that it was left to has woken
	 * up. A running thread manages about as many in that time, so that all get the same
	 * number.
	 */
	static final int MOST_LOANS = 16;

	private final LocalQueue localQueue;

	final QueueKey queueKey;

	/**
	 * The request, {@code null} for a withdrawal.
	 */
	private final @Nullable Wait wait;

	/**
	 * Whether it only tells the store that no local request waits any more.
	 */
	final boolean withdrawal;

	/**
	 * Whether it may be left a key that is handed over.
	 */
	final boolean inherits;

	/**
	 * {@code null} if it was current from the start. Written before others can see the
	 * entry. That of a withdrawal is to start it.
	 */
	private @Nullable Semaphore nudges;

	/**
	 * Whether it was left a key that had stayed here. Written before others can see it.
	 */
	private boolean tookOver;

	/**
	 * Whether there was only a withdrawal ahead of it, or the release of a key that had
	 * stayed here: no local request has the key or waits for it. Written before the
	 * request advances.
	 */
	boolean followsWithdrawal;

	/**
	 * Guarded by this.
	 */
	private boolean begun;

	/**
	 * Whether it polls the store while it waits; changed only by {@link LocalQueue}.
	 */
	volatile boolean poller = true;

	/**
	 * The owner token of the hold that it has become, so that wake-ups do not concern it.
	 */
	volatile @Nullable String owner;

	private volatile @Nullable KeyQueue queue;

	private volatile @Nullable Ownership inherited;

	private volatile boolean reclaimed;

	/**
	 * How often that key was lent, more or less: {@link #MOST_LOANS} times at most, or a
	 * few more. No wider, so that an entry takes 48 bytes.
	 */
	private volatile byte loans;

	QueueEntry(LocalQueue localQueue, QueueKey queueKey, boolean withdrawal, boolean inherits, @Nullable Wait wait) {
		this.localQueue = localQueue;
		this.queueKey = queueKey;
		this.withdrawal = withdrawal;
		this.inherits = inherits;
		this.wait = wait;
		this.nudges = withdrawal ? new Semaphore(1) : null;
	}

	/**
	 * An entry in no queue, for a request that asks out of turn.
	 */
	static QueueEntry beside(LocalQueue localQueue, QueueKey queueKey, @Nullable Wait wait) {
		return new KeyQueue(new QueueEntry(localQueue, queueKey, false, false, wait)).current;
	}

	/**
	 * One that comes after it, and only tells the store that no local request waits any
	 * more.
	 */
	QueueEntry withdrawal() {
		return new QueueEntry(this.localQueue, this.queueKey, true, false, null);
	}

	/**
	 * One that comes after it, under which a key stays here for whoever comes.
	 */
	QueueEntry keeping(Ownership ownership) {
		QueueEntry entry = new QueueEntry(this.localQueue, this.queueKey, false, false, null);
		entry.inherited = ownership;
		entry.owner = ownership.owner();
		return entry;
	}

	/**
	 * Whether a key stays here under it, so that there is no request.
	 */
	boolean isKept() {
		return this.wait == null && this.inherited != null;
	}

	/**
	 * The stay of a key under it begins.
	 */
	void stay() {
		this.localQueue.kept.begin(this.localQueue, this);
	}

	/**
	 * Another entry is current from now on, or none.
	 */
	void replaced() {
		if (isKept()) {
			this.localQueue.kept.left(this);
		}
	}

	/**
	 * Ends the stay of a key under it, if the key is unused: nobody takes the key any
	 * more.
	 * @return whether it leaves when the store has answered, as a withdrawal does
	 */
	boolean givesWay() {
		Ownership inherited = this.inherited;
		return this.withdrawal || (isKept() && inherited != null && (inherited.beginRelease() || !inherited.isHeld()));
	}

	/**
	 * Whether the key that was left to it is borrowed.
	 */
	boolean isLent() {
		Ownership inherited = this.inherited;
		return inherited != null && inherited.isHeld();
	}

	String key() {
		return this.queueKey.key();
	}

	@Override
	public boolean handOver(Hold hold) {
		return this.localQueue.handOver(this, hold);
	}

	@Override
	public void leave() {
		this.localQueue.leave(this);
	}

	/**
	 * The step of leaving its queue. It is the entry itself, so that a lock makes no
	 * object for it.
	 */
	@Override
	public @Nullable KeyQueue apply(QueueKey same, KeyQueue queue) {
		if (queue.current != this) {
			queue.remove(this);
			return queue;
		}
		return queue.next() ? queue : null;
	}

	void inherit(Ownership ownership) {
		this.inherited = ownership;
	}

	/**
	 * The key that the entry before has left to this one.
	 */
	@Nullable Ownership inherited() {
		return this.inherited;
	}

	/**
	 * The key that was left to this entry, as long as it is vacant: other requests may
	 * borrow it a few times, until this one has come for it in vain.
	 */
	@Nullable Ownership lendable() {
		Ownership inherited = this.inherited;
		if (inherited == null || this.reclaimed || this.loans >= MOST_LOANS || !inherited.isVacant()) {
			return null;
		}
		if (this.wait != null) { // Else nobody waits for it.
			this.loans = (byte) (this.loans + 1);
		}
		return inherited;
	}

	/**
	 * Ends the borrowing of the key that was left to this entry.
	 */
	void reclaim() {
		this.reclaimed = true;
	}

	/**
	 * Something has happened to the key that was left to this entry.
	 */
	void inheritanceChanged() {
		if (this.reclaimed) {
			nudge();
		}
	}

	/**
	 * Is left a key that has stayed here. It may yet have to wait for one that borrows
	 * the key at the same time.
	 */
	void takeOver(Ownership kept) {
		this.nudges = new Semaphore(0);
		this.tookOver = true;
		this.inherited = kept;
	}

	void join(KeyQueue queue) {
		this.queue = queue;
	}

	/**
	 * Joins behind others, so that its turn is yet to come.
	 */
	void joinBehind(KeyQueue queue) {
		this.nudges = new Semaphore(0);
		join(queue);
	}

	boolean hasJoined() {
		return this.queue != null;
	}

	/**
	 * Lets it look whether its turn has come.
	 */
	void nudge() {
		nudges().release();
		wakeUp();
	}

	/**
	 * For how long the request has waited.
	 */
	Duration waited() {
		return (this.wait != null) ? this.wait.waited() : Duration.ZERO;
	}

	/**
	 * There is a nudge that it may wait for.
	 */
	void wakeUp() {
		if (this.wait != null) {
			this.wait.wake();
		}
	}

	/**
	 * Whether it was current from the start. This does not change, unlike
	 * {@link #isCurrent}.
	 */
	boolean wasFirst() {
		return this.nudges == null || this.tookOver;
	}

	/**
	 * Whether its turn has come. A stop nudges it, too, so that it takes notice.
	 */
	boolean isCurrent() {
		return queue().current == this;
	}

	/**
	 * Begins its turn, if that has come.
	 */
	boolean takeTurn() {
		return isCurrent() && (this.nudges == null || nudges().tryAcquire());
	}

	/**
	 * Its own nudges, of which it gets one when its turn comes.
	 */
	Semaphore nudges() {
		return Objects.requireNonNull(this.nudges, "nudges");
	}

	/**
	 * Begins a withdrawal, or takes it over before it has begun.
	 * @return {@code false} if that has been done
	 */
	synchronized boolean begin() {
		boolean begins = !this.begun;
		this.begun = true;
		return begins;
	}

	/**
	 * The store has given the lock to the request.
	 * @return other owners that may have been granted it, and do not want it
	 */
	Set<String> acquired(String owner) {
		this.owner = owner;
		return queue().acquired(owner);
	}

	/**
	 * The queue that it has joined.
	 */
	KeyQueue queue() {
		return Objects.requireNonNull(this.queue, "queue");
	}

}
