package io.github.distributedlock.backend.jdbc;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.Holder.State;
import io.github.distributedlock.backend.Waiter;

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
 * @param waiters the instances that wait and are alive, the oldest first, and when each
 * of them was last known to be, in microseconds by the clock of the database
 * @param version changes with each change of the row; {@link #ABSENT} if there is none
 * @param now when it was read, in microseconds by the clock of the database
 */
record Row(String owner, State state, long end, long fencing, Map<String, Long> waiters, long version, long now) {

	static final long ABSENT = -1;

	/**
	 * Longer than a waiter that hears nothing pauses, so that it comes in time.
	 */
	private static final Duration RESERVATION = JdbcLockBackend.LONGEST_POLL.plusMillis(100);

	/**
	 * A waiter that has not polled for so long has died.
	 */
	private static final long SILENCE = micros(Duration.ofSeconds(5));

	/**
	 * Not every poll writes that its waiter is alive.
	 */
	private static final long PULSE = micros(Duration.ofSeconds(1));

	private static final Pattern WAITER = Pattern.compile("(\\S+)@(\\d+)");

	static Row absent(long now) {
		return new Row("", State.OWNER, now, 0, Map.of(), ABSENT, now);
	}

	/**
	 * Reads the waiters that are alive.
	 */
	static Map<String, Long> waiters(String written, long now) {
		Map<String, Long> alive = new LinkedHashMap<>();
		WAITER.matcher(written)
			.results()
			.forEach((waiter) -> alive.put(waiter.group(1), Long.parseLong(waiter.group(2))));
		alive.values().removeIf((time) -> !isWithin(SILENCE, time, now));
		return alive;
	}

	// Also if the clock was set back.
	private static boolean isWithin(long micros, long time, long now) {
		return Math.abs(now - time) < micros;
	}

	String writtenWaiters() {
		return this.waiters.entrySet()
			.stream()
			.map((waiter) -> waiter.getKey() + "@" + waiter.getValue())
			.collect(Collectors.joining(" "));
	}

	boolean isFree() {
		return this.end <= this.now;
	}

	boolean isOwnedBy(String owner) {
		return has(owner, State.OWNER);
	}

	/**
	 * Whether the key has become reserved since another row of it was read.
	 */
	boolean isReservedSince(Row before) {
		return this.state == State.RESERVATION && this != before
				&& !(before.state == State.RESERVATION && before.owner.equals(this.owner));
	}

	/**
	 * Whether the key was given to another owner, or for longer, since another row of it
	 * was read.
	 */
	boolean isGrantSince(Row before) {
		return this.state != State.RESERVATION && (!this.owner.equals(before.owner) || this.end > before.end);
	}

	private boolean has(String owner, State state) {
		return !isFree() && this.state == state && this.owner.equals(owner);
	}

	/**
	 * Gives the key to a claim if it is free, the owner's already, or reserved for its
	 * waiter. Otherwise the waiter may register.
	 */
	Row acquire(Claim claim, boolean registers) {
		String instance = claim.instance();
		boolean owned = isOwnedBy(claim.owner());
		if (!isFree() && !owned && !has(instance, State.RESERVATION)) {
			return (registers && !isWithin(PULSE, this.waiters.getOrDefault(instance, 0L), this.now)) ? alive(instance)
					: this;
		}
		long claimed = this.now + micros(claim.lease());
		// The time, so that the token is greater also after the row was removed.
		long token = claim.fenced() ? Math.max(this.fencing + 1, this.now) : this.fencing;
		return new Row(claim.owner(), State.OWNER, owned ? Math.max(this.end, claimed) : claimed, token,
				without(instance), this.version, this.now);
	}

	/**
	 * Frees the key if an owner owns it, and reserves a free one for the oldest waiter.
	 */
	Row release(String owner) {
		return isOwnedBy(owner) ? free().reserve() : reserve();
	}

	/**
	 * Frees the key if an owner owns it: for the next claim of its instance, or for the
	 * others that wait, behind which that one has to wait.
	 */
	Row pass(String owner, Claim next, boolean yields) {
		if (!isOwnedBy(owner)) {
			return this;
		}
		Map<String, Long> others = without(next.instance());
		Row free = free();
		return (yields && !others.isEmpty()) ? free.waiters(others).reserve() : free;
	}

	Row withdraw(String instance) {
		Row left = this.waiters.containsKey(instance) ? waiters(without(instance)) : this;
		return has(instance, State.RESERVATION) ? left.free().reserve() : left.reserve();
	}

	private Row reserve() {
		if (!isFree() || this.waiters.isEmpty()) {
			return this;
		}
		String next = this.waiters.keySet().iterator().next();
		return new Row(next, State.RESERVATION, this.now + micros(RESERVATION), this.fencing, without(next),
				this.version, this.now);
	}

	private Row free() {
		return new Row(this.owner, State.OWNER, this.now, this.fencing, this.waiters, this.version, this.now);
	}

	private Row alive(String instance) {
		Map<String, Long> all = new LinkedHashMap<>(this.waiters);
		all.put(instance, this.now);
		return waiters(all);
	}

	private Row waiters(Map<String, Long> waiters) {
		return new Row(this.owner, this.state, this.end, this.fencing, waiters, this.version, this.now);
	}

	private Map<String, Long> without(String instance) {
		Map<String, Long> others = new LinkedHashMap<>(this.waiters);
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
