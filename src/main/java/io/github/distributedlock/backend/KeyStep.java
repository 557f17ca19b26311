package io.github.distributedlock.backend;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.Holder.State;
import io.github.distributedlock.backend.KeyState.Held;
import io.github.distributedlock.backend.KeyState.Place;
import io.github.distributedlock.backend.KeyState.Place.Bid;
import io.github.distributedlock.backend.KeyState.Signs;
import io.github.distributedlock.backend.LockBackend.HandOverResult;
import org.jspecify.annotations.Nullable;

/**
 * One step on one key, and the rules of who gets a key next. A step begins with a
 * {@link KeyState} and the time. One method carries the step out. The step ends with the
 * next {@code KeyState}, with the notifications of the waiters that the step has woken,
 * and with the recall of an owner that the step has found.
 * <p>
 * Confined to one thread; does no I/O. Lists are replaced, never changed, and read by
 * index, which makes no object. Times are microseconds by the clock of the store.
 *
 * <h2>Who gets a key</h2>
 *
 * A free key goes to the first claim that asks, but a fair request lets older waiters go
 * first, and so does a request with permits. A reader joins readers unless a writer
 * waits. A released key is granted to the oldest waiter, or reserved for that waiter, or
 * reserved for all next waiters that may have the key together.
 *
 * <h2>Who is dead</h2>
 *
 * A waiter asks again and again. A waiter that was silent for too long is dead, and loses
 * its place. If all waiters were silent, the store was paused, and all are pardoned:
 * their silence counts from then on. A waiter that is still silent when the store is
 * paused again is not pardoned twice, or rare steps would let the dead live for ever. If
 * a waiter asked in the future, the clock was set back, and all are pardoned, too.
 * <p>
 * The scripts of the store in Redis have the same rules: {@code KeyStateInRedisTests}
 * compares the two.
 */
class KeyStep {

	/**
	 * The time without any question, in microseconds, after which the queue is forgotten.
	 */
	private static final long FORGOTTEN = 10_000_000;

	private final String key;

	private final Settings settings;

	private final long now;

	private final KeyState before;

	/**
	 * Holders whose time is not over, in the order in which they came.
	 */
	private List<Held> holders;

	/**
	 * Waiters, oldest first.
	 */
	private List<Place> places;

	private long token;

	private Signs signs;

	private List<ReleaseNotification> notifications = List.of();

	/**
	 * The settings in which stores differ, in microseconds.
	 *
	 * @param reservation how long a key is kept for the waiter whose turn has come
	 * @param silence after how long a silent waiter is dead; 0 if only a waiter that does
	 * not hear counts as dead
	 * @param pulse how long a waiter that asks for the same again need not be written.
	 * Each claim that may be granted differs from the claim before, so such a claim is
	 * not granted any more when the silence has lasted for all but a pulse
	 * @param hears returns {@code false} for an instance that is known to hear no
	 * notifications
	 */
	record Settings(long reservation, long silence, long pulse, Predicate<String> hears) {
	}

	KeyStep(String key, KeyState state, Settings settings, long now) {
		this.key = key;
		this.settings = settings;
		this.now = now;
		this.before = state;
		this.holders = state.holders;
		this.places = state.places;
		this.token = state.token;
		this.signs = state.signs;
		for (int i = 0; i < state.holders.size(); i++) {
			if (state.holders.get(i).end() <= now) {
				remove(state.holders.get(i));
			}
		}
		if (settings.silence > 0 && !this.places.isEmpty() && now - this.signs.lastHeard() >= FORGOTTEN) {
			clearPlaces();
		}
	}

	static long micros(Duration time) {
		return time.toNanos() / 1_000;
	}

	/**
	 * Ends the step.
	 * @return the new state of the key; the object of the state before if nothing has
	 * changed
	 */
	final KeyState state() {
		KeyState state = this.before;
		if (this.holders == state.holders && this.places == state.places && this.token == state.token
				&& this.signs == state.signs) {
			return state;
		}
		boolean free = this.holders.isEmpty() && this.places.isEmpty() && this.token == 0;
		return free ? KeyState.FREE : new KeyState(this.holders, this.places, this.token, this.signs);
	}

	/**
	 * Returns the notifications of the waiters that were woken, in that order, and of the
	 * owner that is to give the key back.
	 */
	final List<ReleaseNotification> notifications() {
		return this.notifications;
	}

	/**
	 * Makes the claim's owner a holder, if the claim may have the key.
	 * @param registers whether the claim's waiter is registered otherwise
	 */
	AcquireResult acquire(Claim claim, boolean registers) {
		skipReservationOfDead(claim.waiter());
		if (mayTake(claim, registers)) {
			return take(claim, registers);
		}
		if (registers) {
			register(claim);
		}
		if (this.holders.isEmpty()) {
			// Others come first, and the reservation for the oldest waiter has run out.
			wakeNext(claim.waiter());
		}
		else if (hasPermits() && fits(claim.waiter())) {
			admit(); // Others come first here, too.
		}
		else {
			return busy(claim);
		}
		boolean isNext = this.holders.isEmpty() || isOwned(claim.owner()) || isKept(claim, registers);
		return isNext ? take(claim, registers) : busy(claim);
	}

	/**
	 * Passes a key on inside an instance: to the next claim at once, or to the waiters,
	 * behind which that instance then waits.
	 */
	HandOverResult pass(String owner, Claim next, boolean yields) {
		boolean owned = isExclusive() && isOwned(owner);
		if (owned && yields) {
			unregister(next.waiter());
			this.holders = List.of();
			wakeNext(next.waiter());
		}
		return HandOverResult.of(owned, (owned && !yields) ? take(next, true) : acquire(next, true));
	}

	/**
	 * Takes the key from an owner, and gives a key that is free then, or a permit, to the
	 * next waiters.
	 * @return whether the owner had the key
	 */
	boolean release(String owner) {
		Held held = owner(owner);
		if (held != null) {
			leave(held);
		}
		if (!this.places.isEmpty()) {
			wakeMore(Waiter.fair(Claim.instanceOf(owner), owner), hasPermits());
		}
		return held != null;
	}

	boolean renew(String owner, Duration lease) {
		Held held = owner(owner);
		if (held != null) {
			replace(held, held.until(Math.max(held.end(), this.now + micros(lease))));
		}
		return held != null;
	}

	/**
	 * Leaves the key busy for some time without its owner, so that no late renewal
	 * revives the lock.
	 */
	boolean leaveToExpire(String owner, Duration rest) {
		Held held = owner(owner);
		if (held != null) {
			leave(held);
			// An owner that has left the key before counts only once.
			this.holders = this.holders.stream()
				.filter((each) -> each.state() != State.EXPIRING || !each.name().equals(owner))
				.toList();
			this.holders = with(this.holders, new Held(held.kind(), State.EXPIRING, owner, this.now + micros(rest)));
		}
		return held != null;
	}

	/**
	 * Ends the place of a waiter, and gives up a key that is reserved for that waiter, or
	 * was granted to one of these owners.
	 */
	void withdraw(Waiter waiter, Set<String> owners) {
		unregister(waiter);
		if (!giveUp(waiter) && isExclusive() && owners.stream().anyMatch(this::isOwned)) {
			this.holders = List.of();
		}
		wakeMore(waiter, !isExclusive());
	}

	/**
	 * Gives a free key to the next waiters.
	 * @param admits whether the next waiters may also have a key beside its holders
	 */
	private void wakeMore(Waiter caller, boolean admits) {
		if (this.holders.isEmpty()) {
			wakeNext(caller);
		}
		else if (admits) {
			removeDead(caller);
			admit();
		}
	}

	/**
	 * Undoes a claim, and ends the registration of the claim's waiter unless another
	 * claim of the same waiter came later.
	 */
	void forget(Claim claim) {
		Place place = place(claim.waiter());
		if (place != null && place.bid() != null && place.bid().owner().equals(claim.owner())) {
			unregister(claim.waiter());
		}
		release(claim.owner());
	}

	/**
	 * Lets the owner of a key share the key from now on, until the end of the owner's
	 * lease.
	 * @return whether the owner has the key
	 */
	boolean downgrade(String owner) {
		Held held = owner(owner);
		if (held == null || held.isPermit()) {
			return false;
		}
		if (!held.kind().isShared()) {
			replace(held, Held.owner(Waiter.shared(Claim.instanceOf(owner)), owner, held.end()));
			wakeMore(Waiter.fair(Claim.instanceOf(owner), owner), true);
		}
		return true;
	}

	/**
	 * Returns whether the claim may have the key now.
	 */
	boolean mayTake(Claim claim, boolean registers) {
		if (claim.permits() > 1) {
			return mayHavePermit(claim, registers);
		}
		if (claim.mode() == LockMode.SHARED) {
			return mayRead(claim);
		}
		if (this.holders.isEmpty()) {
			return !claim.fair() || isFirst(claim.waiter());
		}
		return isExclusive() && (isOwned(claim.owner()) || reservation(claim.waiter()) != null
				|| claim.replaced().stream().anyMatch(this::isOwned));
	}

	/**
	 * Returns whether a reader may come in: beside other readers, unless a writer waits.
	 */
	boolean mayRead(Claim claim) {
		return this.holders.isEmpty() || (isShared()
				&& (isOwned(claim.owner()) || reservation(claim.waiter()) != null || !writerWaits(claim.waiter())));
	}

	/**
	 * Returns whether a claim may have a permit. Such a claim passes no waiter that came
	 * before, not even the waiter of the claim's own instance if the claim does not wait
	 * itself.
	 */
	boolean mayHavePermit(Claim claim, boolean registers) {
		boolean has = hasPermits() && (isOwned(claim.owner()) || isKept(claim, registers));
		if (has || !fits(claim.waiter())) {
			return has;
		}
		removeDead(registers ? claim.waiter() : Waiter.fair(claim.instance(), claim.owner()));
		return this.places.isEmpty() || (registers && oldest().waiter().equals(claim.waiter()));
	}

	/**
	 * Returns whether a waiter may have the key together with the present holders.
	 */
	boolean fits(Waiter waiter) {
		return this.holders.isEmpty()
				|| (waiter.isShared() ? isShared() : hasPermits() && this.holders.size() < waiter.permits());
	}

	boolean writerWaits(Waiter caller) {
		removeDead(caller);
		return this.places.stream().anyMatch((place) -> !place.waiter().isShared());
	}

	/**
	 * Returns whether a key is reserved for a claim. A permit is reserved for claims that
	 * wait.
	 */
	private boolean isKept(Claim claim, boolean registers) {
		return (registers || isExclusive()) && reservation(claim.waiter()) != null;
	}

	AcquireResult take(Claim claim, boolean registers) {
		if (claim.fenced()) {
			this.token = nextToken(this.token);
		}
		unregister(claim.waiter());
		if (isExclusive() && !isOwned(claim.owner())) {
			this.holders = List.of();
		}
		else if (claim.permits() > 1 && registers) {
			giveUp(claim.waiter());
		}
		if (!renew(claim.owner(), claim.lease())) {
			this.holders = with(this.holders,
					Held.owner(claim.waiter(), claim.owner(), this.now + micros(claim.lease())));
		}
		return claim.fenced() ? AcquireResult.fenced(this.token) : AcquireResult.ACQUIRED;
	}

	/**
	 * Returns the fencing token after the last one: the time, so that tokens grow even if
	 * the last token was forgotten.
	 */
	long nextToken(long last) {
		return Math.max(last + 1, this.now);
	}

	/**
	 * Answers who has the key, for how long the claim cannot have the key, and how many
	 * waiters come first. Asks another instance for a key that may be kept there.
	 */
	private AcquireResult busy(Claim claim) {
		Held first = this.holders.get(0);
		if (isRecalled(first, claim)) {
			woken(ReleaseNotification.recall(this.key, first.name()));
		}
		List<Held> all = this.holders.stream().sorted(Comparator.comparingLong(Held::end)).toList();
		int left = all.size() - ((hasPermits() && claim.permits() > 1) ? claim.permits() : 1);
		Held last = all.get((left >= 0) ? left : all.size() - 1);
		Place place = place(claim.waiter());
		return AcquireResult.busy(all.get(0).holder(), Duration.of(last.end() - this.now, ChronoUnit.MICROS),
				(place != null) ? this.places.indexOf(place) : null);
	}

	boolean isRecalled(Held held, Claim claim) {
		return held.isExclusive() && held.state() == State.OWNER && Claim.isRecallable(held.name())
				&& !Claim.instanceOf(held.name()).equals(claim.instance());
	}

	/**
	 * Gives a waiter a place behind all others, unless the waiter has a place already.
	 */
	void register(Claim claim) {
		Waiter waiter = claim.waiter();
		Bid bid = bid(claim);
		Place place = place(waiter);
		if (place != null && place.isWithin(this.settings.pulse, this.now) && place.isFor(bid)) {
			return;
		}
		Place heard = new Place(waiter, (place != null) ? place.since() : this.now, this.now, bid);
		this.places = (place != null) ? replaced(this.places, place, heard) : with(this.places, heard);
		hear(group(waiter));
	}

	/**
	 * Takes note that a group of waiters asks now.
	 */
	private void hear(Waiter group) {
		this.places = this.places.stream()
			.map((place) -> group(place.waiter()).equals(group) ? place.heard(this.now) : place)
			.toList();
		// A time in the future shows that the clock was set back, and stays until the
		// next step that looks for dead waiters.
		this.signs = new Signs(Math.max(this.signs.lastHeard(), this.now), this.signs.pardon());
	}

	/**
	 * Returns the bid of a claim, {@code null} if the key must not be granted to the
	 * claim.
	 */
	@Nullable Bid bid(Claim claim) {
		return (claim.number() > 0) ? new Bid(claim.number(), claim.owner(), micros(claim.grantLease()), this.now)
				: null;
	}

	void unregister(Waiter waiter) {
		Place place = place(waiter);
		if (place != null) {
			this.places = without(this.places, place);
			if (this.places.isEmpty()) {
				clearPlaces();
			}
		}
	}

	private void clearPlaces() {
		this.places = List.of();
		this.signs = Signs.NONE;
	}

	/**
	 * Gives a free key to the next waiter, or to all next waiters that may have the key
	 * together. A fair request keeps its place until the request has the key.
	 */
	void wakeNext(Waiter caller) {
		if (this.places.isEmpty() || grant(oldest())) {
			return;
		}
		removeDead(caller);
		while (!this.places.isEmpty()) {
			Place next = oldest();
			Waiter waiter = next.waiter();
			boolean bids = bid(next) != null;
			boolean joins = KeyState.joins(waiter);
			if (joins ? admit() : grant(next)) {
				return;
			}
			if (!joins && !waiter.isFair()) {
				unregister(waiter);
			}
			if (!joins && ((!bids && notify(waiter)) || waiter.isFair())) {
				this.holders = List.of(Held.reservation(waiter, this.now + this.settings.reservation));
				return;
			}
		}
	}

	/**
	 * Makes the owner of a waiter's claim the owner of a free key.
	 * @return {@code false} if the waiter does not hear, or has not claimed the key
	 * lately
	 */
	boolean grant(Place place) {
		Bid bid = bid(place);
		Waiter waiter = place.waiter();
		if (bid == null || !hears(waiter)) {
			return false;
		}
		unregister(waiter);
		this.holders = List.of(Held.owner(waiter, bid.owner(), this.now + bid.lease()));
		woken(ReleaseNotification.granted(this.key, waiter, bid.owner(), bid.number()));
		return true;
	}

	/**
	 * Returns the bid that may be granted to a waiter; {@code null} if the waiter has no
	 * bid, may be dead, or would have the key together with others.
	 */
	@Nullable Bid bid(Place place) {
		Bid bid = place.bid();
		long age = (bid != null) ? this.now - bid.time() : 0;
		boolean isRecent = this.settings.silence == 0
				|| (age >= 0 && age < this.settings.silence - this.settings.pulse);
		return (isRecent && !KeyState.joins(place.waiter())) ? bid : null;
	}

	/**
	 * Reserves a key for the oldest waiters that may have the key together, as long as
	 * they fit.
	 * @return whether the key was reserved for any waiter
	 */
	boolean admit() {
		boolean admitted = false;
		while (!this.places.isEmpty() && KeyState.joins(oldest().waiter()) && fits(oldest().waiter())) {
			Waiter waiter = oldest().waiter();
			unregister(waiter);
			if (notify(waiter)) {
				giveUp(waiter);
				this.holders = with(this.holders, Held.reservation(waiter, this.now + this.settings.reservation));
				admitted = true;
			}
		}
		return admitted;
	}

	/**
	 * Tells a waiter that a key is reserved for that waiter.
	 * @return {@code false} if the waiter is known not to hear
	 */
	boolean notify(Waiter waiter) {
		boolean hears = hears(waiter);
		if (hears) {
			woken(ReleaseNotification.of(this.key, waiter));
		}
		return hears;
	}

	boolean hears(Waiter waiter) {
		return this.settings.hears.test(waiter.instance());
	}

	void woken(ReleaseNotification notification) {
		this.notifications = with(this.notifications, notification);
	}

	/**
	 * Drops the reservation for a fair request that has died, so that another fair
	 * request need not wait for the end of the reservation.
	 */
	private void skipReservationOfDead(Waiter caller) {
		if (!isExclusive() || this.holders.get(0).state() != State.RESERVATION) {
			return;
		}
		Held first = this.holders.get(0);
		// An end after that shows that the clock was set back.
		replace(first, first.until(Math.min(first.end(), this.now + this.settings.reservation)));
		if (caller.isFair() && first.kind().isFair() && !first.kind().equals(caller)
				&& removeDead(caller).contains(group(first.kind()))) {
			this.holders = List.of();
		}
	}

	/**
	 * Removes the places of waiters that are dead.
	 * @param caller the waiter that asks, which is alive
	 * @return the groups of the dead waiters
	 */
	private Set<Waiter> removeDead(Waiter caller) {
		if (this.places.isEmpty()) {
			return Set.of();
		}
		Set<Waiter> dead = dead(group(caller));
		this.places.stream().map(Place::waiter).filter((each) -> dead.contains(group(each))).forEach(this::unregister);
		return dead;
	}

	/**
	 * Returns the groups of waiters that were silent for too long, without the group of
	 * the caller.
	 */
	Set<Waiter> dead(Waiter caller) {
		if (this.settings.silence == 0) {
			return groups((place) -> !hears(place.waiter()));
		}
		long pardon = this.signs.pardon();
		long newest = Math.max(this.signs.lastHeard(), pardon);
		long limit = this.now - this.settings.silence;
		if (newest > this.now) {
			pardonAll();
			limit = Long.MIN_VALUE;
		}
		else if (newest <= limit) {
			limit = pardon - 1_000;
			this.signs = new Signs(this.signs.lastHeard(), this.now);
		}
		else if (pardon > limit) {
			limit = Long.MIN_VALUE;
		}
		else if (pardon > 0) {
			this.signs = new Signs(this.signs.lastHeard(), 0);
		}
		// Each step of an instance is a sign of life of its fair requests, which do not
		// ask while their instance has the key.
		if (caller.isFair() && this.before.places.stream()
			.anyMatch((place) -> group(place.waiter()).equals(caller)
					&& !place.isWithin(Math.max(1, this.settings.pulse), this.now))) {
			hear(caller);
		}
		long last = limit;
		return groups((place) -> place.heard() <= last && !group(place.waiter()).equals(caller));
	}

	private Set<Waiter> groups(Predicate<Place> chosen) {
		return this.places.stream().filter(chosen).map((place) -> group(place.waiter())).collect(Collectors.toSet());
	}

	/**
	 * Treats all waiters as alive, since the clock was set back.
	 */
	private void pardonAll() {
		long time = this.now - 1_000;
		this.places = this.places.stream().map((place) -> {
			Bid bid = place.bid();
			return new Place(place.waiter(), place.since(), time, (bid != null && bid.time() <= this.now) ? bid : null);
		}).toList();
		this.signs = new Signs(time, this.now);
	}

	/**
	 * Returns the group of a waiter, as one waiter that stands for the group. All fair
	 * requests of an instance are a group, whose members are heard together. Any other
	 * waiter is a group by itself.
	 */
	Waiter group(Waiter waiter) {
		return waiter.isFair() ? Waiter.fair(waiter.instance(), "") : waiter;
	}

	private Place oldest() {
		return this.places.get(0);
	}

	boolean isFirst(Waiter waiter) {
		removeDead(waiter);
		return this.places.isEmpty() || oldest().waiter().equals(waiter);
	}

	@Nullable Place place(Waiter waiter) {
		return first(this.places, (place, each) -> place.waiter().equals(each), waiter);
	}

	private @Nullable Held owner(String owner) {
		return first(this.holders, Held::isOwnedBy, owner);
	}

	boolean isOwned(String owner) {
		return owner(owner) != null;
	}

	@Nullable Held reservation(Waiter waiter) {
		return first(this.holders, Held::isReservedFor, waiter);
	}

	private boolean isExclusive() {
		return !this.holders.isEmpty() && this.holders.get(0).isExclusive();
	}

	private boolean isShared() {
		return !this.holders.isEmpty() && this.holders.get(0).kind().isShared();
	}

	boolean hasPermits() {
		return !this.holders.isEmpty() && this.holders.get(0).isPermit();
	}

	/**
	 * Takes a holder off the key. For a reader, also gives up the reservation for the
	 * readers of the reader's instance.
	 */
	void leave(Held held) {
		remove(held);
		if (held.kind().isShared()) {
			giveUp(Waiter.shared(held.kind().instance()));
		}
	}

	/**
	 * Gives up the reservation for a waiter.
	 * @return whether the waiter had a reservation
	 */
	private boolean giveUp(Waiter waiter) {
		Held kept = reservation(waiter);
		if (kept != null) {
			remove(kept);
		}
		return kept != null;
	}

	void remove(Held held) {
		this.holders = without(this.holders, held);
	}

	private void replace(Held held, Held other) {
		if (!other.equals(held)) {
			this.holders = replaced(this.holders, held, other);
		}
	}

	private static <T, U> @Nullable T first(List<T> all, BiPredicate<T, U> matches, U what) {
		for (int i = 0; i < all.size(); i++) {
			if (matches.test(all.get(i), what)) {
				return all.get(i);
			}
		}
		return null;
	}

	private static <T> List<T> replaced(List<T> all, T one, T other) {
		return all.stream().map((each) -> (each == one) ? other : each).toList();
	}

	private static <T> List<T> with(List<T> all, T one) {
		return all.isEmpty() ? List.of(one) : Stream.concat(all.stream(), Stream.of(one)).toList();
	}

	private static <T> List<T> without(List<T> all, T one) {
		return (all.size() == 1) ? List.of() : all.stream().filter((each) -> each != one).toList();
	}

}
