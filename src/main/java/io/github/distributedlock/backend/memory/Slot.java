package io.github.distributedlock.backend.memory;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.Waiter;
import org.jspecify.annotations.Nullable;

/**
 * One key: its holders, and those that wait for it, oldest first. Confined to the store's
 * lock.
 */
final class Slot {

	private final Holding holding = new Holding();

	private final Set<Waiter> waiters = new LinkedHashSet<>();

	private List<Waiter> woken = List.of();

	Holding holding() {
		return this.holding;
	}

	boolean isIdleAt(long now) {
		this.holding.purge(now);
		return this.holding.isFree() && this.waiters.isEmpty();
	}

	boolean isFreeOrOwnedBy(String owner) {
		return this.holding.isFree() || this.holding.isAlone(owner(owner));
	}

	/**
	 * Whether a claim may have the key now. A ticket gets a free key only if it is the
	 * first, or there is none. A reader is not let in before a writer that waits for
	 * readers to go. A free key is for the first that asks.
	 */
	boolean lets(Claim claim) {
		if (claim.mode() == LockMode.SHARED) {
			return this.holding.isFree() || (this.holding.isShared() && letsIn(claim));
		}
		if (this.holding.isFree()) {
			return !claim.fair() || isFirst(claim.waiter());
		}
		return this.holding.isAlone(owner(claim.owner())) || isReservedFor(claim.waiter());
	}

	private boolean letsIn(Claim reader) {
		return this.holding.isAmong(reader(reader.owner())) || this.holding.isAmong(place(reader.instance()))
				|| this.waiters.stream().allMatch(Waiter::isShared);
	}

	private boolean isFirst(Waiter waiter) {
		Waiter first = oldest();
		return first == null || first.equals(waiter);
	}

	private boolean isReservedFor(Waiter waiter) {
		return this.holding.isAlone(reservation(waiter));
	}

	void give(Claim claim, long end) {
		if (!this.waiters.isEmpty()) {
			unregister(claim.waiter());
		}
		if (claim.mode() == LockMode.SHARED) {
			this.holding.share(reader(claim.owner()), end);
			return;
		}
		Holder owner = owner(claim.owner());
		if (this.holding.isAlone(owner)) {
			this.holding.extend(owner, end);
		}
		else {
			this.holding.set(owner, end);
		}
	}

	/**
	 * Takes the key from its owner, and from a reader also the place that was kept for
	 * its instance.
	 * @return whether it had it
	 */
	boolean take(String owner) {
		if (this.holding.removeAlone(owner)) {
			return true;
		}
		boolean owned = this.holding.remove(reader(owner));
		if (owned) {
			this.holding.remove(place(Claim.instanceOf(owner)));
		}
		return owned;
	}

	/**
	 * Lets the owner of a key share it, for as long as it has it.
	 * @return whether it has it
	 */
	boolean downgrade(String owner) {
		if (this.holding.isAlone(owner(owner))) {
			this.holding.share(reader(owner), this.holding.end());
		}
		return this.holding.isAmong(reader(owner));
	}

	boolean extend(String owner, long end) {
		Holder one = this.holding.isShared() ? reader(owner) : owner(owner);
		boolean owned = this.holding.has(one);
		if (owned) {
			this.holding.extend(one, end);
		}
		return owned;
	}

	boolean leaveToExpire(String owner, long end) {
		boolean shared = this.holding.isShared();
		boolean owned = take(owner);
		if (owned && shared) {
			this.holding.share(Holder.expiring(owner).in(LockMode.SHARED), end);
		}
		else if (owned) {
			this.holding.set(Holder.expiring(owner).in(LockMode.EXCLUSIVE), end);
		}
		return owned;
	}

	/**
	 * Ends a registration, and takes what is reserved for that waiter.
	 */
	void withdraw(Waiter waiter) {
		unregister(waiter);
		this.holding.remove(waiter.isShared() ? place(waiter.instance()) : reservation(waiter));
	}

	void register(Waiter waiter) {
		this.waiters.add(waiter);
	}

	List<LockStatus.Waiter> describeWaiters() {
		return this.waiters.stream().map(Waiter::describe).toList();
	}

	void unregister(Waiter waiter) {
		this.waiters.remove(waiter);
	}

	void bury(Predicate<Waiter> dead) {
		if (!this.waiters.isEmpty()) {
			this.waiters.removeIf(dead);
		}
	}

	/**
	 * Reserves a key that is free for its oldest waiter, or for all readers that are
	 * next. While it is shared, readers that are next come in, too.
	 */
	void wakeNext(long end) {
		Waiter oldest = oldest();
		if (oldest == null || !(this.holding.isFree() || this.holding.isShared())) {
			return;
		}
		if (oldest.isShared()) {
			admitReaders(end);
		}
		else if (this.holding.isFree()) {
			if (!oldest.isFair()) {
				unregister(oldest);
			}
			this.holding.set(reservation(oldest), end);
			wake(oldest);
		}
	}

	private void admitReaders(long end) {
		for (Waiter next = oldest(); next != null && next.isShared(); next = oldest()) {
			unregister(next);
			this.holding.share(place(next.instance()), end);
			wake(next);
		}
	}

	private @Nullable Waiter oldest() {
		return this.waiters.isEmpty() ? null : this.waiters.iterator().next();
	}

	private void wake(Waiter waiter) {
		if (this.woken.isEmpty()) {
			this.woken = new ArrayList<>(1);
		}
		this.woken.add(waiter);
	}

	/**
	 * Hands over those that are to be notified once the step is over.
	 */
	List<Waiter> drainWoken() {
		List<Waiter> all = this.woken;
		this.woken = List.of();
		return all;
	}

	private static Holder owner(String token) {
		return new Holder(token, Holder.State.OWNER, LockMode.EXCLUSIVE);
	}

	private static Holder reader(String token) {
		return new Holder(token, Holder.State.OWNER, LockMode.SHARED);
	}

	private static Holder reservation(Waiter waiter) {
		String ticket = waiter.ticket();
		return Holder.reservation((ticket != null) ? ticket : waiter.instance()).in(LockMode.EXCLUSIVE);
	}

	/**
	 * The place that is kept for the readers of an instance.
	 */
	private static Holder place(String instance) {
		return Holder.reservation(instance).in(LockMode.SHARED);
	}

}
