package io.github.distributedlock.backend.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.Holder.State;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import org.jspecify.annotations.Nullable;

/**
 * One key: its holders, and those that wait for it. Confined to the store's lock.
 * <p>
 * Invariant: either there is at most one holder, or all of them share the key, or all
 * have permits. An owner is one holder at most. A key with waiters becomes free only by
 * time, or until the end of the step.
 */
final class Slot {

	static final Duration RESERVATION = Duration.ofMillis(500);

	private final String key;

	/**
	 * The time of the step.
	 */
	private long now;

	private final List<Held> holders = new ArrayList<>(1);

	/**
	 * Those that wait, oldest first, each with its last claim.
	 */
	private final Map<Waiter, Claim> waiters = new LinkedHashMap<>();

	private final List<ReleaseNotification> notifications = new ArrayList<>();

	Slot(String key) {
		this.key = key;
	}

	/**
	 * Begins a step: forgets holders whose time is over, and waiters that are gone.
	 */
	void begin(long now, Map<String, ?> alive) {
		this.now = now;
		for (int i = this.holders.size() - 1; i >= 0; i--) {
			if (now - this.holders.get(i).end >= 0) {
				this.holders.remove(i);
			}
		}
		if (!this.waiters.isEmpty()) {
			this.waiters.keySet().removeIf((waiter) -> !alive.containsKey(waiter.instance()));
		}
	}

	boolean isIdle() {
		return this.holders.isEmpty() && this.waiters.isEmpty();
	}

	/**
	 * Ends a step.
	 * @return the notifications of those that it has woken
	 */
	List<ReleaseNotification> end() {
		if (this.notifications.isEmpty()) {
			return List.of();
		}
		List<ReleaseNotification> all = List.copyOf(this.notifications);
		this.notifications.clear();
		return all;
	}

	/**
	 * Makes the claim's owner a holder, if it may be one.
	 * @param registers whether it waits otherwise
	 */
	boolean acquire(Claim claim, boolean registers) {
		if (!mayHave(claim, registers)) {
			if (registers) {
				this.waiters.put(claim.waiter(), claim);
			}
			// If it is free, others come first: the reservation for the first has run
			// out.
			wakeNext();
			return false;
		}
		if (!this.waiters.isEmpty()) {
			this.waiters.remove(claim.waiter());
		}
		if (claim.permits() > 1 && registers) {
			this.holders.remove(reservation(claim.waiter()));
		}
		else if (claim.permits() == 1 && claim.mode() == LockMode.EXCLUSIVE
				&& !has(claim.owner(), LockMode.EXCLUSIVE)) {
			this.holders.clear(); // What was reserved for it, or granted to it.
		}
		extend(claim.owner(), State.OWNER, claim.waiter(), claim.lease());
		return true;
	}

	/**
	 * Whether a claim may have the key now. A ticket gets a free key only if it is the
	 * first, or there is none. A reader is not let in before a writer that waits for
	 * readers to go. A free key is for the first that asks. But a claim with permits
	 * overtakes no waiter that came before, not even the waiter of its own instance if it
	 * does not wait itself.
	 */
	private boolean mayHave(Claim claim, boolean waits) {
		if (claim.permits() > 1) {
			Waiter first = oldest();
			boolean isNext = first == null || (waits && first.equals(claim.waiter()));
			return has(claim.owner(), LockMode.EXCLUSIVE) || (waits && isReserved(claim.waiter()))
					|| (isNext && fits(claim.waiter()));
		}
		if (claim.mode() == LockMode.SHARED) {
			return this.holders.isEmpty() || (isShared() && (has(claim.owner(), LockMode.SHARED)
					|| isReserved(claim.waiter()) || this.waiters.keySet().stream().allMatch(Waiter::isShared)));
		}
		if (this.holders.isEmpty()) {
			Waiter first = oldest();
			return !claim.fair() || first == null || first.equals(claim.waiter());
		}
		return has(claim.owner(), LockMode.EXCLUSIVE) || isReserved(claim.waiter())
				|| claim.replaced().stream().anyMatch((owner) -> has(owner, LockMode.EXCLUSIVE));
	}

	/**
	 * Whether one may have the key together with those that have it now.
	 */
	private boolean fits(Waiter waiter) {
		return this.holders.isEmpty() || (waiter.isShared() ? isShared()
				: this.holders.get(0).permits > 1 && this.holders.size() < waiter.permits());
	}

	/**
	 * Says who has the key, and for how long it is not for the claim.
	 */
	AcquireResult busy(Claim claim) {
		long left = this.holders.stream()
			.mapToLong((held) -> held.end - this.now)
			.sorted()
			.skip(Math.max(0, this.holders.size() - claim.permits()))
			.findFirst()
			.orElse(0);
		return AcquireResult.busy(this.holders.isEmpty() ? null : this.holders.get(0).holder(), Duration.ofNanos(left));
	}

	/**
	 * Takes the key from its owner, and from a reader also the place that was kept for
	 * its instance.
	 * @return whether it had it
	 */
	boolean take(String owner) {
		Held held = find(owner);
		if (held != null && held.mode == LockMode.SHARED) {
			this.holders.remove(reservation(Waiter.shared(Claim.instanceOf(owner))));
		}
		return this.holders.remove(held);
	}

	/**
	 * Lets the owner of a key share it, for as long as it has it.
	 * @return whether it has it
	 */
	boolean downgrade(String owner) {
		Held held = find(owner);
		if (held != null) {
			held.mode = LockMode.SHARED;
		}
		wakeNext();
		return held != null;
	}

	boolean renew(String owner, Duration lease) {
		Held held = find(owner);
		if (held != null) {
			held.extend(this.now + lease.toNanos());
		}
		return held != null;
	}

	boolean leaveToExpire(String owner, Duration rest) {
		Held held = find(owner);
		if (held != null && take(owner)) {
			this.holders.add(new Held(owner, State.EXPIRING, held.mode, held.permits, this.now + rest.toNanos()));
		}
		return held != null;
	}

	/**
	 * Ends a registration, and takes what is reserved for that waiter, or was granted to
	 * these owners.
	 */
	void withdraw(Waiter waiter, Set<String> owners) {
		this.waiters.remove(waiter);
		this.holders.remove(reservation(waiter));
		owners.forEach(this::take);
		wakeNext();
	}

	/**
	 * Undoes a claim, and what it has registered.
	 */
	void forget(Claim claim) {
		Claim last = this.waiters.get(claim.waiter());
		take(claim.owner());
		if (last != null && last.owner().equals(claim.owner())) {
			withdraw(claim.waiter(), Set.of());
		}
		wakeNext();
	}

	/**
	 * Grants a key that is free to its oldest waiter, or reserves it for that one, or for
	 * all that are next and may have it together. These also come in beside others with
	 * which they may have it.
	 */
	void wakeNext() {
		for (Waiter next = oldest(); next != null && fits(next); next = oldest()) {
			Claim claim = Objects.requireNonNull(this.waiters.get(next));
			boolean granted = claim.number() > 0 && !next.isShared() && next.permits() == 1;
			if (granted || !next.isFair()) {
				this.waiters.remove(next);
			}
			if (granted) {
				extend(claim.owner(), State.OWNER, next, claim.grantLease());
			}
			else {
				extend(name(next), State.RESERVATION, next, RESERVATION);
			}
			this.notifications.add(granted ? ReleaseNotification.granted(this.key, next, claim.owner(), claim.number())
					: ReleaseNotification.of(this.key, next));
		}
	}

	LockStatus describe() {
		return LockStatus.of(this.key,
				this.holders.stream()
					.map((held) -> held.holder()
						.describe(held.mode, Duration.ofNanos(held.end - this.now))
						.permit(held.permits > 1))
					.toList(),
				this.waiters.keySet().stream().map(Waiter::describe).toList());
	}

	private @Nullable Waiter oldest() {
		return this.waiters.isEmpty() ? null : this.waiters.keySet().iterator().next();
	}

	private boolean isShared() {
		return !this.holders.isEmpty() && this.holders.get(0).mode == LockMode.SHARED;
	}

	private boolean has(String owner, LockMode mode) {
		Held held = find(owner);
		return held != null && held.mode == mode;
	}

	private boolean isReserved(Waiter waiter) {
		return reservation(waiter) != null;
	}

	private @Nullable Held reservation(Waiter waiter) {
		return this.holders.stream()
			.filter((held) -> held.state == State.RESERVATION && held.mode == waiter.mode()
					&& held.permits == waiter.permits() && held.name.equals(name(waiter)))
			.findFirst()
			.orElse(null);
	}

	private static String name(Waiter waiter) {
		String ticket = waiter.ticket();
		return (ticket != null) ? ticket : waiter.instance();
	}

	private @Nullable Held find(String owner) {
		for (Held held : this.holders) {
			if (held.state == State.OWNER && held.name.equals(owner)) {
				return held;
			}
		}
		return null;
	}

	/**
	 * Lets a holder live at least so long.
	 */
	private void extend(String name, State state, Waiter like, Duration lease) {
		long end = this.now + lease.toNanos();
		Held held = (state == State.RESERVATION) ? reservation(like) : find(name);
		if (held == null) {
			this.holders.add(new Held(name, state, like.mode(), like.permits(), end));
		}
		else {
			held.extend(end);
		}
	}

	/**
	 * A holder, and the end of its lease.
	 */
	private static final class Held {

		private final String name;

		private final State state;

		private LockMode mode;

		private final int permits;

		private long end;

		private Held(String name, State state, LockMode mode, int permits, long end) {
			this.name = name;
			this.state = state;
			this.mode = mode;
			this.permits = permits;
			this.end = end;
		}

		private void extend(long end) {
			this.end = (end - this.end > 0) ? end : this.end;
		}

		private Holder holder() {
			return new Holder(this.name, this.state, this.mode);
		}

	}

}
