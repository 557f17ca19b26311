package io.github.distributedlock.backend.jdbc;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.Holder.State;
import io.github.distributedlock.backend.Waiter;
import org.jspecify.annotations.Nullable;

/**
 * One key as it was read, and what becomes of it. Each change returns another row, or
 * this one if there is nothing to change. Immutable.
 * <p>
 * Invariant: a key with waiters becomes free only by time.
 *
 * @param owner the owner token, or the instance for which the key is reserved; empty if
 * it was never owned
 * @param state what the owner has, until the end
 * @param end when the key is free, in microseconds by the clock of the database
 * @param fencing the last fencing token, 0 if there was none
 * @param waiters the instances that wait and are alive, the oldest first
 * @param version changes with each change of the row; {@link #ABSENT} if there is none
 * @param now when it was read, in microseconds by the clock of the database
 * @param next the waiter that was given the key since the row was read, or for which it
 * was reserved; {@code null} if there is none
 */
record Row(String owner, State state, long end, long fencing, Map<String, Place> waiters, long version, long now,
		@Nullable Place next) {

	/**
	 * The place of an instance that waits.
	 *
	 * @param owner the owner token of its last claim
	 * @param time when it was last known to be alive, in microseconds by the clock of the
	 * database
	 * @param number the number of its last claim, 0 if the key must not be granted to it
	 * @param lease for how long the key may be granted, in microseconds
	 */
	record Place(String owner, long time, long number, long lease) {

		String instance() {
			return Claim.instanceOf(this.owner);
		}

	}

	static final long ABSENT = -1;

	/**
	 * How often a waiter that hears asks all the same.
	 */
	static final Duration LONGEST_POLL = Duration.ofMillis(750);

	/**
	 * Written where nobody waits. An empty text would be no text at all in Oracle's modes
	 * of H2 and MariaDB.
	 */
	static final String NOBODY = "-";

	/**
	 * Longer than a waiter that hears nothing pauses, so that it comes in time.
	 */
	private static final Duration RESERVATION = LONGEST_POLL.plusMillis(100);

	/**
	 * A waiter that has not polled for so long has died.
	 */
	private static final long SILENCE = micros(Duration.ofSeconds(5));

	/**
	 * Not every poll writes that its waiter is alive. One whose claim is older has
	 * probably died, since it pauses for less, and a grant to the dead costs more than a
	 * reservation.
	 */
	private static final long PULSE = micros(Duration.ofSeconds(1));

	private static final Pattern WAITER = Pattern.compile("(\\S+)@(\\d+),(\\d+),(\\d+)");

	static Row absent(long now) {
		return new Row("", State.OWNER, now, 0, Map.of(), ABSENT, now, null);
	}

	/**
	 * Reads the waiters that are alive.
	 */
	static Map<String, Place> waiters(String written, long now) {
		Map<String, Place> alive = new LinkedHashMap<>();
		WAITER.matcher(written).results().forEach((waiter) -> {
			Place place = new Place(waiter.group(1), Long.parseLong(waiter.group(2)), Long.parseLong(waiter.group(3)),
					Long.parseLong(waiter.group(4)));
			if (isWithin(SILENCE, place.time, now)) {
				alive.put(place.instance(), place);
			}
		});
		return alive;
	}

	// Also if the clock was set back.
	private static boolean isWithin(long micros, long time, long now) {
		return Math.abs(now - time) < micros;
	}

	String writtenWaiters() {
		return this.waiters.isEmpty() ? NOBODY
				: this.waiters.values()
					.stream()
					.map((place) -> place.owner + "@" + place.time + "," + place.number + "," + place.lease)
					.collect(Collectors.joining(" "));
	}

	boolean isFree() {
		return this.end <= this.now;
	}

	boolean isOwnedBy(String owner) {
		return has(owner, State.OWNER);
	}

	/**
	 * Whether the key was given to another owner, or for longer, since another row of it
	 * was read.
	 */
	boolean isGivenSince(Row before) {
		return this.state != State.RESERVATION && (!this.owner.equals(before.owner) || this.end > before.end);
	}

	private boolean isOwnedByAny(Set<String> owners) {
		return owners.stream().anyMatch(this::isOwnedBy);
	}

	private boolean has(String owner, State state) {
		return !isFree() && this.state == state && this.owner.equals(owner);
	}

	/**
	 * Gives the key to a claim if it is free, reserved for its waiter, or owned by its
	 * owner or by one that it replaces. Otherwise the waiter may register.
	 */
	Row acquire(Claim claim, boolean registers) {
		boolean owned = isOwnedBy(claim.owner());
		if (!isFree() && !owned && !has(claim.instance(), State.RESERVATION) && !isOwnedByAny(claim.replaced())) {
			return registers ? register(claim) : this;
		}
		long claimed = this.now + micros(claim.lease());
		// The time, so that the token is greater also after the row was removed.
		long token = claim.fenced() ? Math.max(this.fencing + 1, this.now) : this.fencing;
		return new Row(claim.owner(), State.OWNER, owned ? Math.max(this.end, claimed) : claimed, token,
				without(claim.instance()), this.version, this.now, this.next);
	}

	private Row register(Claim claim) {
		Place before = this.waiters.get(claim.instance());
		if (before != null && before.owner.equals(claim.owner()) && before.number == claim.number()
				&& isWithin(PULSE, before.time, this.now)) {
			return this;
		}
		Map<String, Place> all = new LinkedHashMap<>(this.waiters);
		all.put(claim.instance(), new Place(claim.owner(), this.now, claim.number(), micros(claim.grantLease())));
		return waiters(all);
	}

	/**
	 * Frees the key if an owner owns it, and gives a free one to the oldest waiter.
	 */
	Row release(String owner) {
		return isOwnedBy(owner) ? free().giveToNext() : giveToNext();
	}

	/**
	 * Frees the key if an owner owns it: for the next claim of its instance, or for the
	 * others that wait, behind which that one has to wait.
	 */
	Row pass(String owner, Claim next, boolean yields) {
		if (!isOwnedBy(owner)) {
			return this;
		}
		Map<String, Place> others = without(next.instance());
		Row free = free();
		return (yields && !others.isEmpty()) ? free.waiters(others).giveToNext() : free;
	}

	/**
	 * Ends the place of an instance, which also gives up what was reserved for it, or
	 * granted to one of these owners.
	 */
	Row withdraw(String instance, Set<String> owners) {
		Row left = leave(instance);
		return (has(instance, State.RESERVATION) || isOwnedByAny(owners)) ? left.free().giveToNext()
				: left.giveToNext();
	}

	/**
	 * Undoes a claim, and ends the place of its instance unless another owner has it.
	 */
	Row forget(Claim claim) {
		Place place = this.waiters.get(claim.instance());
		boolean isPlaced = place != null && place.owner.equals(claim.owner());
		return (isPlaced ? leave(claim.instance()) : this).release(claim.owner());
	}

	private Row leave(String instance) {
		return this.waiters.containsKey(instance) ? waiters(without(instance)) : this;
	}

	private Row giveToNext() {
		if (!isFree() || this.waiters.isEmpty()) {
			return this;
		}
		Place oldest = this.waiters.values().iterator().next();
		boolean grants = oldest.number > 0 && isWithin(PULSE, oldest.time, this.now);
		Place next = grants ? oldest : new Place(oldest.instance(), oldest.time, 0, micros(RESERVATION));
		return new Row(next.owner, grants ? State.OWNER : State.RESERVATION, this.now + next.lease, this.fencing,
				without(next.instance()), this.version, this.now, next);
	}

	private Row free() {
		return new Row(this.owner, State.OWNER, this.now, this.fencing, this.waiters, this.version, this.now,
				this.next);
	}

	private Row waiters(Map<String, Place> waiters) {
		return new Row(this.owner, this.state, this.end, this.fencing, waiters, this.version, this.now, this.next);
	}

	private Map<String, Place> without(String instance) {
		Map<String, Place> others = new LinkedHashMap<>(this.waiters);
		others.remove(instance);
		return others;
	}

	/**
	 * What a claim is answered that has changed the row to this one, or not.
	 */
	AcquireResult answer(Claim claim) {
		if (!isOwnedBy(claim.owner())) {
			return isFree() ? AcquireResult.BUSY : AcquireResult.busy(holder(), left());
		}
		return claim.fenced() ? AcquireResult.fenced(this.fencing) : AcquireResult.ACQUIRED;
	}

	LockStatus describe(String key) {
		return LockStatus.of(key, isFree() ? List.of() : List.of(holder().describe(LockMode.EXCLUSIVE, left())),
				this.waiters.keySet().stream().map((waiter) -> Waiter.exclusive(waiter).describe()).toList());
	}

	private Holder holder() {
		return new Holder(this.owner, this.state, LockMode.EXCLUSIVE);
	}

	private Duration left() {
		return Duration.of(this.end - this.now, ChronoUnit.MICROS);
	}

	static long micros(Duration time) {
		return time.toNanos() / 1_000;
	}

}
