package io.github.distributedlock.engine.queue;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Semaphore;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockException;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.engine.lease.Hold;
import io.github.distributedlock.engine.lease.Ownership;
import io.github.distributedlock.engine.lease.QueuePlace;
import org.jspecify.annotations.Nullable;

/**
 * The place of one request in the local queue of its key.
 *
 * <pre>
 * waiting ──► current: asks the store ──► current: holds the key ──► left
 *    │ gives up      │ gives up                                        ▲
 *    └───────────────┴─────────────────────────────────────────────────┘
 * </pre>
 *
 * Invariants: it joins one queue, once, and becomes current there at most once. It is
 * granted a permit when it does, if it had to wait for that, and another one by each
 * stop, so that it looks whether it is current; a request that no thread waits for is
 * woken after each permit of its own, and of the queue while it is current. Only the
 * current node asks the store, and only its registration is changed. A key is left to it
 * before it is granted; that key is borrowed only while it is vacant, and not any more
 * once the request has come for it. A withdrawal begins once: by its task, or by the
 * request that takes its place. What is not volatile or final is confined to the thread
 * that sees to the request.
 */
final class QueueNode implements QueuePlace {

	/**
	 * How many requests may borrow a key before the request that it was left to has woken
	 * up. A running thread manages about as many in that time, so that all get the same
	 * number.
	 */
	static final int MOST_LOANS = 16;

	private final LocalQueue localQueue;

	/**
	 * The request; {@code null} if a thread waits for it, until that has to. A request
	 * that need not wait is seen by its own thread only, and may cost nothing.
	 */
	volatile @Nullable Waker waker;

	final QueueKey queueKey;

	/**
	 * Whether it only tells the store that no local request waits any more.
	 */
	final boolean withdrawal;

	/**
	 * Its permits; {@code null} if it was current from the start. Written before others
	 * can see the node. That of a withdrawal is to start it.
	 */
	private @Nullable Semaphore granted;

	/**
	 * Whether it may be left a key that is handed on.
	 */
	final boolean inherits;

	/**
	 * Whether there was only a withdrawal ahead of it: no local request has the key or
	 * waits for it. Written before the request goes on.
	 */
	boolean followsWithdrawal;

	/**
	 * Guarded by this.
	 */
	private boolean begun;

	/**
	 * Whether it polls the store while it waits; changed only by {@link FairPollers}.
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
	 * How often that key was lent, more or less: {@link #MOST_LOANS} times at most, or a
	 * few more. No wider, so that a node takes 48 bytes.
	 */
	private volatile byte loans;

	QueueNode(LocalQueue localQueue, QueueKey queueKey, boolean withdrawal, boolean inherits, @Nullable Waker waker) {
		this.localQueue = localQueue;
		this.waker = waker;
		this.queueKey = queueKey;
		this.withdrawal = withdrawal;
		this.inherits = inherits;
		this.granted = withdrawal ? new Semaphore(1) : null;
	}

	/**
	 * A node in no queue, for a request that asks out of turn.
	 */
	static QueueNode beside(LocalQueue localQueue, QueueKey queueKey, @Nullable Waker waker) {
		return new KeyQueue(new QueueNode(localQueue, queueKey, false, false, waker)).current;
	}

	/**
	 * One that comes after it, and only tells the store that no local request waits any
	 * more.
	 */
	QueueNode withdrawal() {
		return new QueueNode(this.localQueue, this.queueKey, true, false, null);
	}

	String key() {
		return this.queueKey.key();
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
	 * The key that the node before has left to this one.
	 */
	@Nullable Ownership inherited() {
		return this.inherited;
	}

	/**
	 * The key that was left to this node, as long as it is vacant: other requests may
	 * borrow it a few times, until this one has come for it in vain.
	 */
	@Nullable Ownership lendable() {
		Ownership inherited = this.inherited;
		if (inherited == null || this.insisting || this.loans >= MOST_LOANS || !inherited.isVacant()) {
			return null;
		}
		this.loans = (byte) (this.loans + 1);
		return inherited;
	}

	/**
	 * Ends the borrowing of the key that was left to this node.
	 */
	void insist() {
		this.insisting = true;
	}

	/**
	 * Something has happened to the key that was left to this node.
	 */
	void inheritanceChanged() {
		if (this.insisting) {
			grant();
		}
	}

	void join(KeyQueue queue) {
		this.queue = queue;
	}

	/**
	 * Joins behind others, so that its turn is yet to come.
	 */
	void joinBehind(KeyQueue queue) {
		this.granted = new Semaphore(0);
		join(queue);
	}

	/**
	 * Lets it look whether its turn has come.
	 */
	void grant() {
		grants().release();
		wakeUp();
	}

	/**
	 * The request waits, with the thread that calls this, unless it has a waker.
	 */
	void isWaitedFor(Waker thread) {
		if (this.waker == null) {
			this.waker = thread;
		}
	}

	/**
	 * For how long the request has waited, if it had to.
	 */
	Duration waited() {
		Waker waker = this.waker;
		return (waker != null) ? waker.waited() : Duration.ZERO;
	}

	/**
	 * There is a permit that it may wait for.
	 */
	void wakeUp() {
		Waker waker = this.waker;
		if (waker != null) {
			waker.wake();
		}
	}

	/**
	 * Whether it was current from the start. This does not change, unlike
	 * {@link #isCurrent}.
	 */
	boolean wasFirst() {
		return this.granted == null;
	}

	/**
	 * Begins its turn, if that has come.
	 */
	boolean takeTurn() {
		return isCurrent() && (this.granted == null || grants().tryAcquire());
	}

	/**
	 * Its own permits, of which it gets one when its turn comes.
	 */
	Semaphore grants() {
		return Objects.requireNonNull(this.granted, "granted");
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
	synchronized boolean begin() {
		boolean begins = !this.begun;
		this.begun = true;
		return begins;
	}

	/**
	 * Whether its turn has come. A stop grants a permit, too, so that it takes notice.
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
	 * @return other owners that may have been granted it, and do not want it
	 */
	Set<String> acquired(String owner) {
		this.owner = owner;
		settled();
		Grants grants = queue().knownGrants();
		return (grants != null) ? grants.acquired(owner) : Set.of();
	}

	/**
	 * To be called before a claim is sent that may be granted.
	 */
	void mayBeGranted() {
		queue().grants();
	}

	/**
	 * The grant that was heard of last, which then counts no more as heard.
	 */
	@Nullable ReleaseNotification takeGrant() {
		Grants grants = queue().knownGrants();
		return (grants != null) ? grants.take() : null;
	}

	/**
	 * Owners that may have been granted the key, and do not want it.
	 */
	Set<String> unwanted() {
		return queue().unwanted();
	}

	/**
	 * An owner may have been granted the key, or be yet, but does not want it any more.
	 */
	void gaveUp(String owner) {
		queue().grants().gaveUp(owner);
	}

	/**
	 * The store has answered a command that takes the key from these owners.
	 */
	void settled(Set<String> unwanted) {
		if (!unwanted.isEmpty()) {
			queue().grants().settled(unwanted);
		}
	}

	/**
	 * The store has forgotten the registration.
	 */
	void settled() {
		queue().registered = false;
		queue().forgetWakeUps();
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
	 * Wakes the request, if it waits for the store.
	 */
	void wake() {
		queue().wake();
	}

	/**
	 * The wake-ups that the store has sent to the queue, those that came before included.
	 */
	Semaphore wakeUps() {
		return queue().wakeUps();
	}

	/**
	 * Forgets the wake-ups that have come until now: one is as good as many.
	 */
	void forgetWakeUps() {
		queue().forgetWakeUps();
	}

	private KeyQueue queue() {
		KeyQueue queue = this.queue;
		if (queue == null) {
			throw new IllegalStateException(
					"The request has no place in the queue of lock " + LockException.printable(key()));
		}
		return queue;
	}

}
