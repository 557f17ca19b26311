package io.github.distributedlock.backend.memory;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import org.jspecify.annotations.Nullable;

/**
 * One key: who has it, and who waits for it, oldest first. Confined to the store's lock.
 */
final class Slot {

	private final Holding holding = new Holding();

	private final Map<String, Waiter> waiters = new LinkedHashMap<>();

	private List<Waiter> woken = List.of();

	Holding holding() {
		return this.holding;
	}

	boolean isIdleAt(long now) {
		this.holding.purge(now);
		return this.holding.isFree() && this.waiters.isEmpty();
	}

	/**
	 * Whether a claim may have the key now. A ticket gets a free key only if it is the
	 * first, or there is none. Who wants to read is not let in before a writer that waits
	 * for readers to go; on a free key nobody defers.
	 */
	boolean lets(Claim claim) {
		if (claim.mode() == LockMode.SHARED) {
			return this.holding.isFree() || (this.holding.isShared() && letsIn(claim));
		}
		if (this.holding.isFree()) {
			return !claim.fair() || isFirst(claim.waiter());
		}
		return this.holding.isAlone(claim.owner()) || isReservedFor(claim.waiter());
	}

	private boolean letsIn(Claim reader) {
		return this.holding.isAmong(Claim.SHARED + reader.owner())
				|| this.holding.isAmong(LockBackend.RESERVED + reader.instance())
				|| this.waiters.values().stream().allMatch(Waiter::reads);
	}

	private boolean isFirst(String waiter) {
		Waiter first = oldest();
		return first == null || first.name().equals(waiter);
	}

	private boolean isReservedFor(String waiter) {
		return this.holding.isAlone(LockBackend.RESERVED + waiter);
	}

	void give(Claim claim, long end) {
		unregister(claim.waiter());
		if (claim.mode() == LockMode.SHARED) {
			this.holding.share(Claim.SHARED + claim.owner(), end);
		}
		else if (this.holding.isAlone(claim.owner())) {
			this.holding.extend(claim.owner(), end);
		}
		else {
			this.holding.set(claim.owner(), end);
		}
	}

	/**
	 * Takes the key from its owner, and from a reader also what was kept for its
	 * instance.
	 * @return whether it had it
	 */
	boolean take(String owner) {
		if (this.holding.isAlone(owner)) {
			return this.holding.remove(owner);
		}
		boolean owned = this.holding.isAmong(Claim.SHARED + owner);
		if (owned) {
			this.holding.remove(Claim.SHARED + owner);
			this.holding.remove(LockBackend.RESERVED + owner.split(":", 2)[0]);
		}
		return owned;
	}

	boolean extend(String owner, long end) {
		String one = this.holding.isShared() ? Claim.SHARED + owner : owner;
		boolean owned = this.holding.has(one);
		if (owned) {
			this.holding.extend(one, end);
		}
		return owned;
	}

	boolean park(String owner, long end) {
		boolean shared = this.holding.isShared();
		boolean owned = take(owner);
		if (owned && shared) {
			this.holding.share(LockBackend.PARKED + owner, end);
		}
		else if (owned) {
			this.holding.set(LockBackend.PARKED + owner, end);
		}
		return owned;
	}

	/**
	 * Ends a registration, and takes what is reserved for that waiter.
	 */
	void withdraw(String waiter) {
		unregister(waiter);
		if (isReservedFor(waiter)) {
			this.holding.remove(LockBackend.RESERVED + waiter);
		}
		else if (this.holding.isShared() && waiter.startsWith(Claim.SHARED)) {
			this.holding.remove(LockBackend.RESERVED + waiter.substring(Claim.SHARED.length()));
		}
	}

	void register(Waiter waiter) {
		this.waiters.putIfAbsent(waiter.name(), waiter);
	}

	void unregister(String waiter) {
		this.waiters.remove(waiter);
	}

	void bury(Predicate<Waiter> dead) {
		if (!this.waiters.isEmpty()) {
			this.waiters.values().removeIf(dead);
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
		if (oldest.reads()) {
			admitReaders(end);
		}
		else if (this.holding.isFree()) {
			if (!oldest.keepsPlace()) {
				unregister(oldest.name());
			}
			this.holding.set(LockBackend.RESERVED + oldest.name(), end);
			wake(oldest);
		}
	}

	private void admitReaders(long end) {
		for (Waiter next = oldest(); next != null && next.reads(); next = oldest()) {
			unregister(next.name());
			this.holding.share(LockBackend.RESERVED + next.instance(), end);
			wake(next);
		}
	}

	private @Nullable Waiter oldest() {
		return this.waiters.isEmpty() ? null : this.waiters.values().iterator().next();
	}

	private void wake(Waiter waiter) {
		if (this.woken.isEmpty()) {
			this.woken = new ArrayList<>(1);
		}
		this.woken.add(waiter);
	}

	/**
	 * Hands over who is to be told once the step is over.
	 */
	List<Waiter> drainWoken() {
		List<Waiter> all = this.woken;
		this.woken = List.of();
		return all;
	}

}
