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
 * Holds the requests of this JVM for one key in the order of their arrival, with what the
 * store may have sent to them or granted to them unknown to them.
 * <p>
 * Invariants: the current entry and the waiting entries are guarded by the
 * {@link LocalQueue}'s step for the key. Wake-ups and grants are guarded by this object.
 * An owner to which the store has granted the key, or may yet grant the key, is the owner
 * of the current request, or is held, or is unwanted. So the next request or withdrawal
 * names that owner. An owner that is held is never unwanted, since a command that names
 * an unwanted owner takes the key from that owner. Only the thread of a request decides
 * whether the request accepts a grant or gives up.
 */
final class KeyQueue {

	/**
	 * Requests that wait behind the current one, oldest first; {@code null} until there
	 * is one.
	 */
	private @Nullable Deque<QueueEntry> waiting;

	/**
	 * Wake-ups that no request has consumed yet; {@code null} until there is a wake-up,
	 * or a request that waits for one. Guarded by this.
	 */
	private @Nullable Semaphore wakeUps;

	/**
	 * The number of wake-ups that no notification of the store has caused. Guarded by
	 * this.
	 */
	private int nudges;

	/**
	 * The owner that has the key, or had the key last. Guarded by this.
	 */
	private @Nullable String held;

	/**
	 * Owners of requests that have ended, and owners whose grants were heard of and not
	 * accepted. Guarded by this.
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
	 * {@code true} while requests wait behind the current one. May be read by any thread,
	 * which may miss a request that comes just now.
	 */
	volatile boolean crowded;

	/**
	 * {@code true} if the store may know this JVM as a waiter; the next current entry
	 * inherits the flag. To be set before a registration is sent, since a registration
	 * counts even if no answer comes.
	 */
	volatile boolean registered;

	/**
	 * The owner whose key others have asked for last; {@code null} if there is none.
	 */
	volatile @Nullable String recalled;

	/**
	 * The failure that the store answered last; {@code null} if the last answer was none.
	 */
	volatile @Nullable LockBackendException failure;

	KeyQueue(QueueEntry first) {
		this.current = first;
		first.join(this);
	}

	/**
	 * Describes the requests that wait here, including a request that asks the store.
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
	 * Returns whether no request has the key or waits for the key.
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
	 * Removes a request from those that wait.
	 * @return {@code false} if the request does not wait here
	 */
	boolean remove(QueueEntry entry) {
		return this.waiting != null && this.waiting.remove(entry);
	}

	/**
	 * Puts a request in the place of a withdrawal that the store has not heard of, or
	 * leaves to the request a key that has stayed here.
	 * @return {@code false} if the withdrawal or the key is taken already, or the request
	 * may not have the key
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
	 * Makes the next entry the current one. Without a next entry, a withdrawal becomes
	 * the current entry if the store may know of this JVM.
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
	 * Makes the next entry the current one, and leaves a key to that entry.
	 * @param keeping the entry under which the key stays here if no entry waits;
	 * {@code null} if the key does not stay
	 * @return {@code false} if no entry may have the key, and the key does not stay
	 */
	boolean handOver(Ownership ownership, BooleanSupplier vacated, @Nullable QueueEntry keeping) {
		QueueEntry next = (this.waiting != null) ? this.waiting.peek() : null;
		boolean mayHaveIt = (next != null) ? next.inherits : (keeping != null);
		if (!mayHaveIt || !vacated.getAsBoolean()) {
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
	 * Lets every request here check whether the engine still serves that request.
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
	 * Returns the wake-ups of the current entry, including those that came before the
	 * turn of the entry.
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
	 * Forgets the wake-ups that have come until now: one wake-up is as good as many.
	 */
	synchronized void forgetWakeUps() {
		this.nudges = 0;
		if (this.wakeUps != null) {
			this.wakeUps.drainPermits();
		}
	}

	/**
	 * Takes notice that the store has granted the key to an owner.
	 * @return {@code false} if the grant has to be released, since another owner has the
	 * key
	 */
	boolean granted(ReleaseNotification grant, String owner) {
		// The entry tells first who has the key. This queue tells only afterwards.
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
	 * Returns the grant that was heard of last. Afterwards that grant no longer counts as
	 * heard.
	 */
	synchronized @Nullable ReleaseNotification takeGrant() {
		ReleaseNotification latest = this.granted;
		this.granted = null;
		return latest;
	}

	/**
	 * Notes an owner that does not want the key any more, but that the store may have
	 * granted the key, or may yet grant the key.
	 */
	synchronized void gaveUp(String owner) {
		Set<String> more = new HashSet<>(this.unwanted);
		more.add(owner);
		this.unwanted = Set.copyOf(more);
	}

	/**
	 * Returns owners that may have been granted the key, and do not want the key.
	 */
	synchronized Set<String> unwanted() {
		return this.unwanted;
	}

	/**
	 * Takes notice that a command was answered which has taken the key from these owners,
	 * if one of them had the key. These owners are not unwanted any more, except an owner
	 * whose grant was heard of meanwhile: that owner may have got the key since.
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
	 * Takes notice that the current request's owner has the key, and holds the key from
	 * now on. With that, the store has forgotten the registration.
	 * @return the unwanted owners, which are now the caller's business
	 */
	synchronized Set<String> acquired(String owner) {
		this.registered = false;
		forgetWakeUps();
		this.granted = null;
		this.held = owner;
		if (this.unwanted.isEmpty()) {
			return this.unwanted; // The usual case, in which no set is made.
		}
		settled(Set.of(owner));
		Set<String> rest = this.unwanted;
		this.unwanted = Set.of();
		return rest;
	}

	/**
	 * Takes notice that a withdrawal has ended, which has named these owners.
	 */
	void withdrawn(Set<String> owners) {
		settled(owners);
		this.registered = false;
		forgetWakeUps();
	}

	/**
	 * Identifies a local queue by the key, and by the waiter that the requests of the
	 * queue are in the store. The exclusive requests of this JVM are one waiter, the
	 * shared requests of this JVM are another, and each fair request is a waiter of its
	 * own.
	 *
	 * @param key the key
	 * @param waiter the waiter as {@linkplain Claim#waiter() registered}
	 */
	record QueueKey(String key, Waiter waiter) {

		/**
		 * Returns the identity of the queue of the request that makes a claim.
		 */
		static QueueKey of(Claim claim) {
			return new QueueKey(claim.key(), claim.waiter());
		}

		/**
		 * Returns a claim that an owner may have made as this waiter, with no more than
		 * is needed to undo the claim.
		 */
		Claim claim(String owner) {
			return new Claim(this.key, owner, this.waiter, Duration.ofMillis(1), false,
					new Claim.Grant(0, null, Set.of()));
		}

	}

}
