package io.github.distributedlock.backend;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.github.distributedlock.backend.KeyState.Held;
import io.github.distributedlock.backend.KeyState.Place;
import io.github.distributedlock.backend.KeyState.Place.Bid;
import io.github.distributedlock.backend.LockBackend.HandOverResult;
import org.jspecify.annotations.Nullable;

/**
 * A {@link KeyStep} with broken {@linkplain KeyRule rules}.
 */
class MutantStep extends KeyStep {

	private final KeyState before;

	private final Set<KeyRule> broken;

	private boolean releases;

	private boolean downgrades;

	MutantStep(String key, KeyState state, Settings settings, long now, Set<KeyRule> broken) {
		super(key, state, settings, now);
		this.before = state;
		this.broken = broken;
	}

	@Override
	AcquireResult acquire(Claim claim, boolean registers) {
		boolean unfair = !this.before.places.isEmpty() && !this.before.places.get(0).waiter().isFair();
		boolean anew = holds(KeyRule.RESERVED_ANEW) && (holds(KeyRule.RESERVED_ANEW_FOR_THE_UNFAIR) || !unfair);
		if (!anew && this.before.holders.isEmpty() && !mayTake(claim, registers)) {
			register(claim);
			return AcquireResult.BUSY;
		}
		if (!holds(KeyRule.RETRIED_WHEN_REGISTERED) && place(claim.waiter()) == null && this.before.holders.isEmpty()) {
			register(claim);
			return AcquireResult.BUSY;
		}
		return super.acquire(claim, registers);
	}

	@Override
	boolean isFirst(Waiter waiter) {
		return !holds(KeyRule.NOBODY_BARGES) || super.isFirst(waiter);
	}

	@Override
	boolean mayTake(Claim claim, boolean registers) {
		if (!holds(KeyRule.OWNERS_ARE_RECOGNISED) && isOwned(claim.owner())) {
			return false;
		}
		return super.mayTake(!holds(KeyRule.TAKEN_OVER_BY_NAME) ? claim.replacing(owners(claim.instance())) : claim,
				registers);
	}

	private Set<String> owners(String instance) {
		return this.before.holders.stream()
			.map(Held::name)
			.filter((owner) -> Claim.instanceOf(owner).equals(instance))
			.collect(Collectors.toSet());
	}

	@Override
	boolean mayRead(Claim claim) {
		boolean reads = holds(KeyRule.KEPT_PLACES_COUNT) || this.before.holders.isEmpty() || owners() > 0
				|| reservation(claim.waiter()) != null;
		return reads && super.mayRead(claim);
	}

	@Override
	boolean writerWaits(Waiter caller) {
		return holds(KeyRule.READERS_DEFER_TO_WRITERS) && super.writerWaits(caller);
	}

	@Override
	boolean mayHavePermit(Claim claim, boolean registers) {
		return (!holds(KeyRule.PERMITS_DEFER_TO_ALL_WAITERS) && fits(claim.waiter()))
				|| super.mayHavePermit(claim, registers);
	}

	@Override
	boolean fits(Waiter waiter) {
		if (!wasTogether()) {
			return super.fits(waiter) && wakesMore();
		}
		List<Held> held = this.before.holders;
		if (!holds(KeyRule.PERMITS_AND_READERS_ARE_APART)) {
			return waiter.isShared() || held.size() < waiter.permits();
		}
		if (!holds(KeyRule.KEPT_PERMITS_COUNT) && hasPermits()) {
			return owners() < waiter.permits();
		}
		boolean own = holds(KeyRule.EACH_BY_ITS_OWN_PERMITS) || !hasPermits() || waiter.isShared();
		return super.fits(own ? waiter : held.get(0).kind()) && wakesMore();
	}

	/**
	 * Returns whether another one may be woken beside those that this step has woken.
	 */
	private boolean wakesMore() {
		return holds(KeyRule.READERS_WAKE_TOGETHER) || notifications().isEmpty();
	}

	@Override
	boolean admit() {
		boolean admits = (holds(KeyRule.EACH_PERMIT_WAKES) || !this.releases || !hasPermits())
				&& (holds(KeyRule.DOWNGRADES_LET_READERS_IN) || !this.downgrades);
		return admits && super.admit();
	}

	@Override
	void wakeNext(Waiter caller) {
		if (holds(KeyRule.LAST_READER_WAKES) || !wasTogether()) {
			super.wakeNext(caller);
		}
		for (Place place : holds(KeyRule.TICKETS_STAY) ? List.<Place>of() : this.before.places) {
			if (reservation(place.waiter()) != null) {
				unregister(place.waiter());
			}
		}
		for (Place place : holds(KeyRule.WOKEN_WITH_RESERVATION) ? List.<Place>of() : this.before.places) {
			Held kept = reservation(place.waiter());
			if (kept != null) {
				remove(kept);
			}
		}
	}

	@Override
	Waiter group(Waiter waiter) {
		return super.group(holds(KeyRule.LIVENESS_OF_EACH_KIND) ? waiter : Waiter.exclusive(waiter.instance()));
	}

	@Override
	Set<Waiter> dead(Waiter caller) {
		long newest = Math.max(this.before.signs.lastHeard(), this.before.signs.pardon());
		boolean future = newest > ModelKey.NOW;
		if (!holds(KeyRule.THE_SILENT_ARE_DEAD) || (future && !holds(KeyRule.TIME_BEGINS_ANEW))) {
			return Set.of();
		}
		Set<Waiter> dead = super.dead(holds(KeyRule.WHO_SPEAKS_LIVES) ? caller : Waiter.exclusive("nobody"));
		if (future && !holds(KeyRule.THE_FUTURE_IS_NO_SILENCE)) {
			return this.before.places.stream()
				.map((place) -> group(place.waiter()))
				.filter((group) -> !group.equals(caller))
				.collect(Collectors.toSet());
		}
		return (newest <= ModelKey.LONG_AGO && !holds(KeyRule.PARDONED_ONCE)) ? Set.of() : dead;
	}

	/**
	 * Returns whether the holders of the key were of the kinds that may have a key
	 * together.
	 */
	private boolean wasTogether() {
		return !this.before.holders.isEmpty() && !this.before.holders.get(0).isExclusive();
	}

	private long owners() {
		return this.before.holders.stream().filter((held) -> held.state() == Holder.State.OWNER).count();
	}

	@Override
	AcquireResult take(Claim claim, boolean registers) {
		if (!holds(KeyRule.FULL_LEASE_AGAIN) && isOwned(claim.owner())) {
			unregister(claim.waiter());
			return AcquireResult.ACQUIRED;
		}
		return super.take(!holds(KeyRule.TAKEN_IN_FULL) ? claim.lease(claim.grantLease()) : claim, registers);
	}

	@Override
	boolean isRecalled(Held held, Claim claim) {
		boolean first = this.before.places.stream().noneMatch((place) -> place.waiter().equals(claim.waiter()));
		return super.isRecalled(held, claim) && holds(KeyRule.BUSY_KEYS_ARE_RECALLED)
				&& (holds(KeyRule.EACH_ATTEMPT_RECALLS) || first);
	}

	@Override
	void register(Claim claim) {
		if (!holds(KeyRule.PLACES_STAY)) {
			unregister(claim.waiter());
		}
		if (holds(KeyRule.POLLS_ARE_HEARD) || place(claim.waiter()) == null) {
			super.register(claim);
		}
	}

	@Override
	@Nullable Bid bid(Claim claim) {
		Place place = place(claim.waiter());
		Bid bid = super.bid(claim);
		if (!holds(KeyRule.KNOWS_GRANTS) || (bid == null && !holds(KeyRule.RECORD_IS_DROPPED))) {
			return (place != null) ? place.bid() : null;
		}
		return (bid != null && !holds(KeyRule.CLAIMED_LEASE))
				? new Bid(bid.number(), bid.owner(), ModelKey.RESERVATION, bid.time()) : bid;
	}

	@Override
	@Nullable Bid bid(Place place) {
		if (!holds(KeyRule.CLAIMS_ARE_RECENT) || !holds(KeyRule.KNOWS_GRANTS)) {
			return null;
		}
		return holds(KeyRule.OLDEST_IS_JUDGED) ? super.bid(place) : place.bid();
	}

	@Override
	HandOverResult pass(String owner, Claim next, boolean yields) {
		if ((wasTogether() && !holds(KeyRule.DOWNGRADED_KEYS_ARE_NOT_PASSED_ON))
				|| !holds(KeyRule.PASSED_ON_BY_OWNERS)) {
			this.before.holders.forEach(this::remove);
			return HandOverResult.of(true, acquire(next, true));
		}
		boolean others = holds(KeyRule.YIELDS_TO_OWN_READERS)
				|| this.before.places.stream().anyMatch((place) -> !place.waiter().instance().equals(next.instance()));
		HandOverResult result = super.pass(owner, next, yields && others && holds(KeyRule.YIELDS_TO_OTHERS));
		if (!holds(KeyRule.REGISTERED_AFTER_YIELDING) && yields) {
			unregister(next.waiter());
		}
		return result;
	}

	@Override
	long nextToken(long last) {
		long counted = holds(KeyRule.TOKENS_FOLLOW_THE_CLOCK) ? super.nextToken(last) : last + 1;
		return holds(KeyRule.TOKENS_ARE_COUNTED) ? counted : ModelKey.NOW;
	}

	@Override
	boolean release(String owner) {
		this.releases = true;
		Held kept = reservation(Waiter.shared(Claim.instanceOf(owner)));
		if (kept != null && !isOwned(owner) && !holds(KeyRule.ONLY_OWNERS_END_KEPT_PLACES)) {
			remove(kept);
		}
		boolean others = !holds(KeyRule.OWNER_IS_COMPARED) && !this.before.holders.isEmpty();
		return super.release(others ? this.before.holders.get(0).name() : owner);
	}

	@Override
	void leave(Held held) {
		if (holds(KeyRule.RELEASE_ENDS_KEPT_PLACE)) {
			super.leave(held);
		}
		else {
			remove(held);
		}
	}

	@Override
	void withdraw(Waiter waiter, Set<String> owners) {
		KeyRule rule = (reservation(waiter) != null) ? KeyRule.WITHDRAWAL_ENDS_KEPT_PLACE
				: KeyRule.WITHDRAWING_WRITERS_LET_READERS_IN;
		if ((wasTogether() && !holds(rule)) || !holds(KeyRule.PASSED_ON)) {
			unregister(waiter);
		}
		else {
			super.withdraw(waiter, holds(KeyRule.WITHDRAWAL_NAMES_TOKEN) ? owners : Set.of());
		}
	}

	@Override
	boolean downgrade(String owner) {
		this.downgrades = true;
		boolean others = !holds(KeyRule.ONLY_OWNERS_DOWNGRADE) && !this.before.holders.isEmpty();
		return super.downgrade(others ? this.before.holders.get(0).name() : owner);
	}

	@Override
	void forget(Claim claim) {
		if (!holds(KeyRule.LATE_REGISTRATION_IS_REMOVED)) {
			release(claim.owner());
		}
		else {
			super.forget(claim);
		}
	}

	@Override
	boolean grant(Place place) {
		Bid bid = bid(place);
		if (bid != null && !holds(KeyRule.ENOUGH_MEMORY)) {
			if (!holds(KeyRule.SET_BEFORE_PUBLISH)) {
				publish(place, bid);
			}
			if (!holds(KeyRule.REFUSED_KEEPS_PLACE)) {
				unregister(place.waiter());
				return false;
			}
			return true;
		}
		if (bid != null && !holds(KeyRule.SUBSCRIBERS_ARE_COUNTED) && !holds(KeyRule.COUNTED_BEFORE_GRANT)) {
			publish(place, bid);
		}
		return super.grant(place);
	}

	private void publish(Place place, Bid bid) {
		woken(ReleaseNotification.granted(ModelKey.NAME, place.waiter(), bid.owner(), bid.number()));
	}

	@Override
	boolean notify(Waiter waiter) {
		if (!holds(KeyRule.SUBSCRIBERS_ARE_COUNTED)) {
			woken(ReleaseNotification.of(ModelKey.NAME, waiter));
		}
		return super.notify(waiter);
	}

	@Override
	boolean hears(Waiter waiter) {
		return !holds(KeyRule.THE_DEAF_ARE_PASSED_OVER)
				|| (holds(KeyRule.SUBSCRIBERS_ARE_COUNTED) && super.hears(waiter));
	}

	private boolean holds(KeyRule rule) {
		return !this.broken.contains(rule);
	}

}
