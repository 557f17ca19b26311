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
 * Invariants: an entry joins one queue, once, and becomes current there at most once. An
 * entry that had to wait gets a nudge on becoming current. Each stop gives the entry
 * another nudge, so that its request checks whether the entry is current. A request that
 * no thread waits for is woken after each nudge of its entry, and after each nudge of the
 * queue while the entry is current. Only the current entry asks the store, and only its
 * registration is changed.
 * <p>
 * A key is left to an entry before the entry gets its nudge. That key is borrowed only
 * while vacant, and not any more once the request has come for it. An entry under which a
 * key stays has no request: such an entry is current from the start, and its key may be
 * borrowed again and again. A withdrawal begins once: by its task, or by the request that
 * takes the withdrawal over. Fields that are neither volatile nor final are confined to
 * the thread that runs the request.
 */
final class QueueEntry implements Hold.Entry, BiFunction<QueueKey, KeyQueue, @Nullable KeyQueue> {

	/**
	 * How many requests may borrow a key before the request that the key was left to has
	 * woken up. A running thread manages about as many in that time, so that all get the
	 * same number.
	 */
	static final int MOST_LOANS = 16;

	private final LocalQueue localQueue;

	final QueueKey queueKey;

	/**
	 * The wait of the request; {@code null} for a withdrawal, and for a key that stays.
	 */
	private final @Nullable Wait wait;

	/**
	 * True for an entry that only tells the store that no local request waits any more.
	 */
	final boolean withdrawal;

	/**
	 * True if a key that is handed over may be left to this entry.
	 */
	final boolean inherits;

	/**
	 * The nudges of this entry; {@code null} if the entry was current from the start.
	 * Written before others can see the entry. The nudge of a withdrawal is there to
	 * start the withdrawal.
	 */
	private @Nullable Semaphore nudges;

	/**
	 * True if a key that had stayed here was left to this entry. Written before others
	 * can see the entry.
	 */
	private boolean tookOver;

	/**
	 * True if there was only a withdrawal ahead of this entry, or the release of a key
	 * that had stayed here: no local request has the key or waits for it. Written before
	 * the request advances.
	 */
	boolean followsWithdrawal;

	/**
	 * True once a withdrawal has begun. Guarded by this.
	 */
	private boolean begun;

	/**
	 * True if this entry polls the store while waiting. Changed only by
	 * {@link LocalQueue}.
	 */
	volatile boolean poller = true;

	/**
	 * The owner token of the hold that this entry has become, so that wake-ups do not
	 * concern the entry.
	 */
	volatile @Nullable String owner;

	private volatile @Nullable KeyQueue queue;

	private volatile @Nullable Ownership inherited;

	private volatile boolean reclaimed;

	/**
	 * How often the inherited key was lent, more or less: {@link #MOST_LOANS} times at
	 * most, or a few more. The field is no wider than a byte, so that an entry takes 48
	 * bytes.
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
	 * Creates an entry in no queue, for a request that asks out of turn.
	 */
	static QueueEntry beside(LocalQueue localQueue, QueueKey queueKey, @Nullable Wait wait) {
		return new KeyQueue(new QueueEntry(localQueue, queueKey, false, false, wait)).current;
	}

	/**
	 * Creates a withdrawal that comes after this entry, and only tells the store that no
	 * local request waits any more.
	 */
	QueueEntry withdrawal() {
		return new QueueEntry(this.localQueue, this.queueKey, true, false, null);
	}

	/**
	 * Creates an entry that comes after this one, under which a key stays here for any
	 * request that comes.
	 */
	QueueEntry keeping(Ownership ownership) {
		QueueEntry entry = new QueueEntry(this.localQueue, this.queueKey, false, false, null);
		entry.inherited = ownership;
		entry.owner = ownership.owner();
		return entry;
	}

	/**
	 * Returns whether a key stays here under this entry, so that there is no request.
	 */
	boolean isKept() {
		return this.wait == null && this.inherited != null;
	}

	/**
	 * Begins the stay of a key under this entry.
	 */
	void stay() {
		this.localQueue.kept.begin(this.localQueue, this);
	}

	/**
	 * Takes note that another entry is current from now on, or none.
	 */
	void replaced() {
		if (isKept()) {
			this.localQueue.kept.left(this);
		}
	}

	/**
	 * Ends the stay of a key under this entry, if the key is unused: nobody takes the key
	 * any more.
	 * @return whether the entry leaves when the store has answered, as a withdrawal does
	 */
	boolean givesWay() {
		Ownership inherited = this.inherited;
		return this.withdrawal || (isKept() && inherited != null && (inherited.beginRelease() || !inherited.isHeld()));
	}

	/**
	 * Returns whether the key that was left to this entry is borrowed.
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
	 * Makes the step of leaving the queue. The entry is the step, so that a lock makes no
	 * object for that.
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
	 * Returns the key that the entry before has left to this one.
	 */
	@Nullable Ownership inherited() {
		return this.inherited;
	}

	/**
	 * Returns the key that was left to this entry, as long as the key is vacant: other
	 * requests may borrow the key a few times, until this one has come for the key in
	 * vain.
	 * @return {@code null} if the key may not be borrowed
	 */
	@Nullable Ownership lendable() {
		Ownership inherited = this.inherited;
		if (inherited == null || this.reclaimed || this.loans >= MOST_LOANS || !inherited.isVacant()) {
			return null;
		}
		if (this.wait != null) { // Without a request, nobody waits for the key.
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
	 * Takes note that something has happened to the key that was left to this entry.
	 */
	void inheritanceChanged() {
		if (this.reclaimed) {
			nudge();
		}
	}

	/**
	 * Leaves to this entry a key that has stayed here. The entry may yet have to wait for
	 * a request that borrows the key at the same time.
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
	 * Joins behind others, so that the turn of this entry is yet to come.
	 */
	void joinBehind(KeyQueue queue) {
		this.nudges = new Semaphore(0);
		join(queue);
	}

	boolean hasJoined() {
		return this.queue != null;
	}

	/**
	 * Lets the request look whether its turn has come.
	 */
	void nudge() {
		nudges().release();
		wakeUp();
	}

	/**
	 * Returns for how long the request has waited.
	 */
	Duration waited() {
		return (this.wait != null) ? this.wait.waited() : Duration.ZERO;
	}

	/**
	 * Wakes the request: there is a nudge that the request may wait for.
	 */
	void wakeUp() {
		if (this.wait != null) {
			this.wait.wake();
		}
	}

	/**
	 * Returns whether this entry was current from the start. The answer does not change,
	 * unlike that of {@link #isCurrent}.
	 */
	boolean wasFirst() {
		return this.nudges == null || this.tookOver;
	}

	/**
	 * Returns whether the turn of this entry has come. A stop nudges the entry, too, so
	 * that the request notices the stop.
	 */
	boolean isCurrent() {
		return queue().current == this;
	}

	/**
	 * Begins the turn of this entry.
	 * @return whether the turn has come
	 */
	boolean takeTurn() {
		return isCurrent() && (this.nudges == null || nudges().tryAcquire());
	}

	/**
	 * Returns the nudges of this entry, one of which comes with the turn.
	 */
	Semaphore nudges() {
		return Objects.requireNonNull(this.nudges, "nudges");
	}

	/**
	 * Begins a withdrawal, or takes over a withdrawal that has not begun.
	 * @return {@code false} if the withdrawal has begun or was taken over before
	 */
	synchronized boolean begin() {
		boolean begins = !this.begun;
		this.begun = true;
		return begins;
	}

	/**
	 * Takes note that the store has given the lock to the request.
	 * @return other owners that may have been granted the lock, and do not want it
	 */
	Set<String> acquired(String owner) {
		this.owner = owner;
		return queue().acquired(owner);
	}

	/**
	 * Returns the queue that this entry has joined.
	 */
	KeyQueue queue() {
		return Objects.requireNonNull(this.queue, "queue");
	}

}
