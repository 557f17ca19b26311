package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;

import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import org.jspecify.annotations.Nullable;

/**
 * The requests of this JVM for one key, in the order of their arrival, and what the store
 * may have sent to them or granted without their knowing.
 * <p>
 * Invariants: the current entry and the waiting entries are guarded by the
 * {@link LocalQueue}'s step for the key; wake-ups and grants are guarded by this. An
 * owner to which the store has granted the key, or may yet, is the owner of the current
 * request, or is held, or is unwanted. So the next request or withdrawal names it. An
 * owner that is held is never unwanted, since a command that names an unwanted owner
 * takes the key from it. Only the thread of a request decides whether the request accepts
 * a grant or gives up.
 */
final class KeyQueue {

	/**
	 * Those behind the current one; {@code null} until there is one.
	 */
	private @Nullable Deque<QueueEntry> waiting;

	/**
	 * Wake-ups that no request has consumed yet; {@code null} until there is one, or a
	 * request that waits for one. Guarded by this.
	 */
	private @Nullable Semaphore wakeUps;

	/**
	 * How many of them no notification of the store has caused. Guarded by this.
	 */
	private int nudges;

	/**
	 * The owner that has the key, or had it last. Guarded by this.
	 */
	private @Nullable String held;

	/**
	 * Owners of requests that have ended, and those that were heard of and not accepted.
	 * Guarded by this.
	 */
	private Set<String> unwanted = Set.of();

	/**
	 * The grant that was heard of last. Guarded by this.
	 */
	private @Nullable ReleaseNotification granted;

	/**
	 * The request that asks the store or holds the lock. May be read by any thread.
	 */
	volatile QueueEntry current;

	/**
	 * Whether requests wait behind the current one: one that comes just now may be
	 * missed. May be read by any thread.
	 */
	volatile boolean crowded;

	/**
	 * Whether the store may know this JVM as a waiter; the current entry inherits that.
	 * To be set before a registration is sent: it counts even if no answer comes.
	 */
	volatile boolean registered;

	/**
	 * The owner whose key others have asked for last; {@code null} if there is none.
	 */
	volatile @Nullable String recalled;

	/**
	 * What the store's last answer was, if it was a failure.
	 */
	volatile @Nullable LockBackendException failure;

	KeyQueue(QueueEntry first) {
		this.current = first;
		first.join(this);
	}

	/**
	 * Describes the requests that wait here, one that asks the store included.
	 */
	EngineSnapshot.Queue describe() {
		boolean currentWaits = !this.current.withdrawal && this.current.owner == null;
		Duration longest = currentWaits ? this.current.waited() : Duration.ZERO;
		for (QueueEntry entry : waiting()) {
			Duration waited = entry.waited();
			longest = (waited.compareTo(longest) > 0) ? waited : longest;
		}
		return new EngineSnapshot.Queue(waiting().size() + (currentWaits ? 1 : 0), longest);
	}

	private Collection<QueueEntry> waiting() {
		return (this.waiting != null) ? this.waiting : List.of();
	}

	/**
	 * Whether no request has the key or waits for it.
	 */
	boolean isUnused() {
		boolean noRequest = this.current.withdrawal || (this.current.isKept() && !this.current.isLent());
		return noRequest && waiting().isEmpty();
	}

	void add(QueueEntry entry) {
		if (this.waiting == null) {
			this.waiting = new ArrayDeque<>();
		}
		entry.joinBehind(this);
		this.waiting.add(entry);
		this.crowded = true;
	}

	/**
	 * Lets a request go that waits, if it does.
	 */
	boolean remove(QueueEntry entry) {
		return this.waiting != null && this.waiting.remove(entry);
	}

	/**
	 * Puts a request in the place of a withdrawal that the store has not heard of, or
	 * leaves it a key that has stayed here.
	 * @return {@code false} if it is too late for that, or the request may not have the
	 * key
	 */
	boolean takeOver(QueueEntry entry) {
		Ownership kept = this.current.inherited();
		if (kept == null) {
			if (!this.current.begin()) {
				return false;
			}
			this.registered = true;
		}
		else if (!kept.isLost()) {
			if (!kept.isVacant() || !entry.inherits) {
				return false;
			}
			entry.takeOver(kept);
		}
		entry.join(this);
		makeCurrent(entry);
		return true;
	}

	private void makeCurrent(QueueEntry entry) {
		QueueEntry former = this.current;
		this.current = entry;
		former.replaced();
	}

	/**
	 * Makes the next entry the current one, or a withdrawal if the store may know of us.
	 * @return {@code false} if there is neither
	 */
	boolean next() {
		QueueEntry next = (this.waiting != null) ? this.waiting.poll() : null;
		this.crowded = !waiting().isEmpty();
		if (next != null) {
			makeCurrent(next);
			next.nudge();
			return true;
		}
		boolean withdraws = this.registered || isWoken() || !unwanted().isEmpty();
		if (withdraws) {
			QueueEntry withdrawal = this.current.withdrawal();
			withdrawal.join(this);
			makeCurrent(withdrawal);
		}
		else {
			this.current.replaced();
		}
		return withdraws;
	}

	/**
	 * Makes the next entry the current one, and leaves a key to it.
	 * @param keeping under which the key stays here if there is none; {@code null} if it
	 * does not
	 * @return {@code false} if there is none that may have it, and it does not stay
	 */
	boolean handOver(Ownership ownership, BooleanSupplier vacated, @Nullable QueueEntry keeping) {
		QueueEntry next = (this.waiting != null) ? this.waiting.peek() : null;
		if ((next != null) ? !next.inherits : (keeping == null)) {
			return false;
		}
		if (!vacated.getAsBoolean()) {
			return false;
		}
		if (next != null) {
			next.inherit(ownership);
			return next();
		}
		if (keeping != null && keeping != this.current) {
			keeping.join(this);
			makeCurrent(keeping);
			keeping.stay();
		}
		return true;
	}

	/**
	 * Lets every request here check whether the engine still serves it.
	 */
	void nudge() {
		if (this.current.owner == null) {
			synchronized (this) {
				this.nudges++;
			}
			signal();
		}
		this.current.inheritanceChanged();
		waiting().forEach(QueueEntry::nudge);
	}

	void wake() {
		if (this.current.owner == null) {
			signal();
		}
	}

	private void signal() {
		wakeUps().release();
		this.current.wakeUp();
	}

	/**
	 * The wake-ups of the current entry, those that came before its turn included.
	 */
	synchronized Semaphore wakeUps() {
		if (this.wakeUps == null) {
			this.wakeUps = new Semaphore(0);
		}
		return this.wakeUps;
	}

	private synchronized boolean isWoken() {
		return this.wakeUps != null && this.wakeUps.availablePermits() > this.nudges;
	}

	/**
	 * Forgets the wake-ups that have come until now: one is as good as many.
	 */
	synchronized void forgetWakeUps() {
		this.nudges = 0;
		if (this.wakeUps != null) {
			this.wakeUps.drainPermits();
		}
	}

	/**
	 * The store has granted the key to an owner.
	 * @return {@code false} if it has to be released, since another owner has the key
	 */
	boolean granted(ReleaseNotification grant, String owner) {
		// The entry says first who has the key, and this only then.
		String holder = this.current.owner;
		if (holder != null) {
			return holder.equals(owner) || isHeld(owner);
		}
		if (notice(grant, owner)) {
			signal();
		}
		return true;
	}

	private synchronized boolean isHeld(String owner) {
		return owner.equals(this.held);
	}

	private synchronized boolean notice(ReleaseNotification grant, String owner) {
		boolean isNew = !owner.equals(this.held);
		if (isNew) {
			gaveUp(owner);
			this.granted = grant;
		}
		return isNew;
	}

	/**
	 * The grant that was heard of last, which then counts no more as heard.
	 */
	synchronized @Nullable ReleaseNotification takeGrant() {
		ReleaseNotification latest = this.granted;
		this.granted = null;
		return latest;
	}

	/**
	 * An owner may have been granted the key, or be yet, but does not want it any more.
	 */
	synchronized void gaveUp(String owner) {
		Set<String> more = new HashSet<>(this.unwanted);
		more.add(owner);
		this.unwanted = Set.copyOf(more);
	}

	/**
	 * Owners that may have been granted the key, and do not want it.
	 */
	synchronized Set<String> unwanted() {
		return this.unwanted;
	}

	/**
	 * A command was answered that has taken the key from these owners, if one of them had
	 * it. They are not unwanted any more, except one whose grant was heard of meanwhile:
	 * it may have got the key since.
	 */
	synchronized void settled(Set<String> owners) {
		if (!owners.isEmpty()) {
			Set<String> rest = new HashSet<>(this.unwanted);
			rest.removeIf(
					(owner) -> owners.contains(owner) && (this.granted == null || !owner.equals(this.granted.owner())));
			this.unwanted = Set.copyOf(rest);
		}
	}

	/**
	 * The current request's owner has the key, and holds it from now on; the store has
	 * forgotten the registration with it.
	 * @return the unwanted owners, which are now the caller's business
	 */
	synchronized Set<String> acquired(String owner) {
		this.registered = false;
		forgetWakeUps();
		this.granted = null;
		this.held = owner;
		if (this.unwanted.isEmpty()) {
			return this.unwanted; // Mostly, and then nothing is made.
		}
		settled(Set.of(owner));
		Set<String> rest = this.unwanted;
		this.unwanted = Set.of();
		return rest;
	}

	/**
	 * A withdrawal has ended, which has named these owners.
	 */
	void withdrawn(Set<String> owners) {
		settled(owners);
		this.registered = false;
		forgetWakeUps();
	}

	/**
	 * A local queue: the key, and the waiter that its requests are in the store. The
	 * exclusive requests of this JVM are one waiter, its shared requests are another, and
	 * each fair request is one of its own.
	 *
	 * @param key the key
	 * @param waiter as it is {@linkplain Claim#waiter() registered}
	 */
	record QueueKey(String key, Waiter waiter) {

		/**
		 * That of the requests that a claim is one of.
		 */
		static QueueKey of(Claim claim) {
			return new QueueKey(claim.key(), claim.waiter());
		}

		/**
		 * What an owner may have claimed as this waiter, as far as it takes to undo that.
		 */
		Claim claim(String owner) {
			return new Claim(this.key, owner, this.waiter, Duration.ofMillis(1), false,
					new Claim.Grant(0, null, Set.of()));
		}

	}

}
