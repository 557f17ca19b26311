package io.github.distributedlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * What to lock, and how. Immutable: each wither returns a new request. What is not set
 * means the default of the lock that it is given to.
 *
 * <pre class="code">
 * LockRequest.of("order:42", "customer:7").waitTime(Duration.ofSeconds(2)).name("checkout")
 * </pre>
 *
 * Durations are from 1 millisecond (0 for a wait) to 365 days; a lease is at least 100
 * milliseconds. A request has at most 10,000 keys. {@link LockMode#SHARED} and several
 * {@linkplain #permits(int) permits} go neither together nor with
 * {@linkplain #fair(boolean) fair} or {@linkplain #fenced(boolean) fenced}, and fenced
 * not with several keys. A value that is out of range is refused by its wither, with an
 * {@link IllegalArgumentException}; values that do not go together are refused when the
 * request is used, in whatever order they were set. {@code null} in the place of a
 * duration or a name takes back what was set before. Two requests are equal if they ask
 * for the same keys, in the same order, in the same way.
 *
 * @since 1.0
 */
public final class LockRequest {

	/**
	 * The most keys of one request: {@value}.
	 */
	public static final int MOST_KEYS = 10_000;

	/**
	 * The most permits: {@value}.
	 */
	public static final int MOST_PERMITS = 1_000;

	private static final String UNNAMED = "unnamed";

	private static final Map<Setting, Object> DEFAULTS = new EnumMap<>(Map.of(Setting.NAME, UNNAMED));

	private final List<String> keys;

	/**
	 * The name, and what is not as by default. Never changed; requests that differ in
	 * their keys only share it.
	 */
	private final Map<Setting, Object> settings;

	/**
	 * A field, since each lock asks for them several times.
	 */
	private final int permits;

	private LockRequest(List<String> keys, Map<Setting, Object> settings) {
		this.keys = keys;
		this.settings = settings;
		this.permits = (Integer) settings.getOrDefault(Setting.PERMITS, 1);
	}

	/**
	 * A request for one or more keys, all or none.
	 * @param keys the keys, neither null nor blank; repeated ones count once
	 * @return the request
	 */
	public static LockRequest of(String... keys) {
		return of(Arrays.asList(keys));
	}

	/**
	 * A request for one or more keys, all or none.
	 * @param keys the keys, neither null nor blank; repeated ones count once
	 * @return the request
	 */
	public static LockRequest of(Collection<String> keys) {
		return new LockRequest(distinct(keys), DEFAULTS);
	}

	/**
	 * The same request for other keys.
	 * @param keys the keys, neither null nor blank; repeated ones count once
	 * @return a request for those keys that is like this one otherwise
	 */
	public LockRequest keys(Collection<String> keys) {
		return new LockRequest(distinct(keys), this.settings);
	}

	/**
	 * Waits at most this long for the keys, all waiting and retrying included.
	 * @param waitTime the time; zero means one attempt, {@code null} the default of the
	 * lock
	 * @return a request that waits so long
	 */
	public LockRequest waitTime(@Nullable Duration waitTime) {
		return with(Setting.WAIT_TIME, (waitTime != null) ? DurationRange.WAIT.check("waitTime", waitTime) : null);
	}

	/**
	 * Holds the lock for at most this long: the lease then runs out, and is not renewed,
	 * unless it is {@linkplain LockHandle#extend(Duration) extended}. Without, the lease
	 * is renewed until the handle is closed. With several keys it begins when the last
	 * one is acquired.
	 * @param leaseTime the fixed lease, or {@code null} for none
	 * @return a request with that lease
	 */
	public LockRequest leaseTime(@Nullable Duration leaseTime) {
		return with(Setting.LEASE_TIME, (leaseTime != null) ? DurationRange.LEASE.check("leaseTime", leaseTime) : null);
	}

	/**
	 * Renews the lease, but not beyond this long after it was acquired. Together with a
	 * {@linkplain #leaseTime(Duration) fixed lease} nothing is renewed: the lease is the
	 * shorter of the two, and {@link LockHandle#extend(Duration)} refuses to go beyond
	 * this.
	 * @param maxHoldTime the longest hold, or {@code null} for no limit
	 * @return a request with that limit
	 */
	public LockRequest maxHoldTime(@Nullable Duration maxHoldTime) {
		return with(Setting.MAX_HOLD_TIME,
				(maxHoldTime != null) ? DurationRange.LEASE.check("maxHoldTime", maxHoldTime) : null);
	}

	/**
	 * Keeps others out for at least this long after it was acquired, even if it is given
	 * back earlier.
	 * @param minHoldTime the shortest hold, not longer than a
	 * {@linkplain #leaseTime(Duration) fixed lease} or the
	 * {@linkplain #maxHoldTime(Duration) longest hold}; {@code null} for none
	 * @return a request with that minimum
	 */
	public LockRequest minHoldTime(@Nullable Duration minHoldTime) {
		return with(Setting.MIN_HOLD_TIME,
				(minHoldTime != null) ? DurationRange.HOLD.check("minHoldTime", minHoldTime) : null);
	}

	/**
	 * Leaves the lease to run out when the handle is closed, instead of giving the lock
	 * back.
	 * @param expireOnClose whether to leave it to run out
	 * @return a request that does so
	 */
	public LockRequest expireOnClose(boolean expireOnClose) {
		return flag(Setting.EXPIRE_ON_CLOSE, expireOnClose);
	}

	/**
	 * Lets the key stay with this JVM for so long after the last local holder has given
	 * it back, if no local request waits: the next local request takes it without asking
	 * the store. Another JVM that asks gets the key as soon as nobody has used it for a
	 * millisecond, and at the latest with the first release after the key has been here
	 * for this long. For a lock that one JVM mostly uses alone. Until it has been held
	 * for a second, a key that may stay has a short lease, of 3 seconds or five command
	 * timeouts if these are more, so that it is free so soon if this JVM dies. Nothing
	 * stays if the store does not notify. Refused together with anything but a single key
	 * that is locked exclusively, renewed without limit, and given back on close: with
	 * {@link LockMode#SHARED}, permits, fair, fenced, a lease time, a longest or shortest
	 * hold, or {@linkplain #expireOnClose(boolean) expiry on close}.
	 * @param keepTime the time, 1 minute at most; zero: the key does not stay, unless the
	 * request takes one that stays here already; {@code null} for the default of the lock
	 * @return a request whose key stays so long
	 */
	public LockRequest keepTime(@Nullable Duration keepTime) {
		return with(Setting.KEEP_TIME, (keepTime != null) ? DurationRange.KEEP.check("keepTime", keepTime) : null);
	}

	/**
	 * Which holders may have the lock together; exclusive by default.
	 * {@link LockMode#SHARED} is refused together with {@linkplain #fair(boolean) fair}
	 * or {@linkplain #fenced(boolean) fenced}, by a store that cannot do it, and, for an
	 * exclusive request, by a thread that shares the lock already.
	 * @param mode the mode
	 * @return a request in that mode
	 */
	public LockRequest mode(LockMode mode) {
		return flag(Setting.SHARED, Objects.requireNonNull(mode, "mode") == LockMode.SHARED);
	}

	/**
	 * How many requests may hold the lock together, in all JVMs; 1 by default, which is
	 * an exclusive lock. The request gets the lock if with it at most so many hold it:
	 * its own number counts, and none is stored, so that requests may differ in it. Each
	 * holder has a lease of its own. A request with several permits passes no JVM that
	 * waits already; JVMs take turns. Refused together with {@link LockMode#SHARED},
	 * {@linkplain #fair(boolean) fair} or {@linkplain #fenced(boolean) fenced}, by a
	 * store that cannot do it, and by a thread that shares the lock already, or holds it
	 * with more permits.
	 * @param permits the number, from 1 to {@value #MOST_PERMITS}
	 * @return a request with so many permits
	 */
	public LockRequest permits(int permits) {
		if (permits < 1 || permits > MOST_PERMITS) {
			throw new IllegalArgumentException(
					"permits " + permits + " is out of range: at least 1, at most " + MOST_PERMITS);
		}
		return with(Setting.PERMITS, (permits > 1) ? permits : null);
	}

	/**
	 * Serves fair requests for the key strictly in the order of their arrival, across all
	 * JVMs and threads: no request gets ahead of one that arrived before. A request
	 * arrives when the store has noted it. One that gives up is skipped, one whose JVM
	 * died is skipped within a second. With several keys, this holds for each of them
	 * from when the ones before it are held. Others that are not fair may be handed the
	 * lock inside their JVM meanwhile. Refused by a store that cannot do it.
	 * @param fair whether to do so
	 * @return a request that is fair, or not
	 */
	public LockRequest fair(boolean fair) {
		return flag(Setting.FAIR, fair);
	}

	/**
	 * Asks for a {@linkplain LockHandle#fencingToken() fencing token}, with which the
	 * resource behind the lock can refuse the late write of a holder that has lost it.
	 * Only for a single key. A request that re-enters a lock without one is refused.
	 * @param fenced whether to ask for one; not by default
	 * @return a request with a token, or without
	 */
	public LockRequest fenced(boolean fenced) {
		return flag(Setting.FENCED, fenced);
	}

	/**
	 * Does not bind the handle to the acquiring thread: it is not current there, and no
	 * request re-enters it, so that it may outlive the task that acquired it and be
	 * closed by any thread. For futures, reactive results and tasks of a
	 * {@link java.util.concurrent.ForkJoinPool}. {@link CurrentLock#bind(LockHandle)}
	 * makes it current for as long as a task runs. The request itself re-enters what the
	 * thread holds, as any other does.
	 * @param detached whether to do so; not by default
	 * @return a request whose handle is bound to no thread, or to the acquiring one
	 */
	public LockRequest detached(boolean detached) {
		return flag(Setting.DETACHED, detached);
	}

	/**
	 * Lets a stop of the application wait until the handle is closed, for as long as that
	 * has time (with Spring Boot, {@code spring.lifecycle.timeout-per-shutdown-phase}),
	 * so that the lock is released. For handles that are closed when a call ends, and not
	 * for one that is held as long as the application runs.
	 * @param awaitedOnStop whether to wait, or {@code null} for the default: not for
	 * {@code acquire} and {@code tryAcquire}, but for code that is run with the lock
	 * @return a request that a stop waits for, or not
	 */
	public LockRequest awaitedOnStop(@Nullable Boolean awaitedOnStop) {
		return with(Setting.AWAITED_ON_STOP, awaitedOnStop);
	}

	/*
	 * What runs code with the lock asks for.
	 */
	LockRequest awaitedUnlessSaid() {
		return this.settings.containsKey(Setting.AWAITED_ON_STOP) ? this : awaitedOnStop(true);
	}

	/**
	 * Whether an interrupt ends the wait, with a {@link LockInterruptedException}. If
	 * not, the request goes on waiting, and keeps its place among those that wait; the
	 * thread's interrupt flag is set again afterwards. For code that has to have the lock
	 * whatever happens, such as one that cleans up; the wait still ends with the
	 * {@linkplain #waitTime(Duration) wait time}, and with a stop of the application.
	 * @param interruptible whether it does; so by default
	 * @return a request that can be interrupted, or cannot
	 */
	public LockRequest interruptible(boolean interruptible) {
		return flag(Setting.UNINTERRUPTIBLE, !interruptible);
	}

	/**
	 * Names the use of the lock in events and meters.
	 * @param name one of few names, not made from the key; {@code null} for
	 * {@code unnamed}
	 * @return a request of that name
	 */
	public LockRequest name(@Nullable String name) {
		if (name != null && name.isBlank()) {
			throw new IllegalArgumentException("The name of a lock request must not be blank");
		}
		return with(Setting.NAME, (name != null) ? name : UNNAMED);
	}

	/**
	 * The keys, in the order given, without duplicates.
	 * @return the keys
	 */
	public List<String> keys() {
		return this.keys;
	}

	/**
	 * How long to wait at most.
	 * @return the time, or {@code null} for the default
	 */
	public @Nullable Duration waitTime() {
		return duration(Setting.WAIT_TIME);
	}

	/**
	 * The fixed lease.
	 * @return the lease, or {@code null} if it is renewed
	 */
	public @Nullable Duration leaseTime() {
		return duration(Setting.LEASE_TIME);
	}

	/**
	 * The longest hold.
	 * @return the time, or {@code null} if there is none
	 */
	public @Nullable Duration maxHoldTime() {
		return duration(Setting.MAX_HOLD_TIME);
	}

	/**
	 * The shortest hold.
	 * @return the time, or {@code null} if there is none
	 */
	public @Nullable Duration minHoldTime() {
		return duration(Setting.MIN_HOLD_TIME);
	}

	/**
	 * How long the key stays with the JVM when nobody uses it.
	 * @return the time, or {@code null} for the default
	 */
	public @Nullable Duration keepTime() {
		return duration(Setting.KEEP_TIME);
	}

	/**
	 * Whether the lease is left to run out on close.
	 * @return {@code false} if the lock is released
	 */
	public boolean expireOnClose() {
		return is(Setting.EXPIRE_ON_CLOSE);
	}

	/**
	 * The mode.
	 * @return exclusive or shared
	 */
	public LockMode mode() {
		return is(Setting.SHARED) ? LockMode.SHARED : LockMode.EXCLUSIVE;
	}

	/**
	 * How many requests may hold the lock together.
	 * @return the number, 1 for an exclusive or shared lock
	 */
	public int permits() {
		return this.permits;
	}

	/**
	 * Whether requests are served strictly in order.
	 * @return whether it is fair
	 */
	public boolean fair() {
		return is(Setting.FAIR);
	}

	/**
	 * Whether a fencing token is asked for.
	 * @return whether it is fenced
	 */
	public boolean fenced() {
		return is(Setting.FENCED);
	}

	/**
	 * Whether the handle is bound to no thread.
	 * @return whether it is detached
	 */
	public boolean detached() {
		return is(Setting.DETACHED);
	}

	/**
	 * Whether a stop waits until the handle is closed.
	 * @return whether it is awaited, {@code false} by default
	 */
	public boolean awaitedOnStop() {
		return Boolean.TRUE.equals(this.settings.get(Setting.AWAITED_ON_STOP));
	}

	/**
	 * Whether an interrupt ends the wait.
	 * @return whether it is interruptible
	 */
	public boolean interruptible() {
		return !is(Setting.UNINTERRUPTIBLE);
	}

	/**
	 * The name for events and meters.
	 * @return the name, {@code unnamed} by default
	 */
	public String name() {
		return (String) Objects.requireNonNull(this.settings.get(Setting.NAME));
	}

	/**
	 * Returns if the settings of this request go together, which each lock asks when the
	 * request is used: for code that makes requests early, and wants to fail there.
	 * @throws IllegalArgumentException if they do not
	 */
	public void requireValid() {
		requireMinHoldFits(Setting.LEASE_TIME);
		requireMinHoldFits(Setting.MAX_HOLD_TIME);
		boolean shared = mode() == LockMode.SHARED;
		refuseIf(shared && fair(), "SHARED and fair, but a shared lock queues up behind all exclusive requests that"
				+ " wait as it is. Request it without fair");
		refuseIf(shared && fenced(), "SHARED and fenced, but a fencing token orders writes, and shared locks are"
				+ " for reading. Request it without fenced, or as EXCLUSIVE");
		boolean several = permits() > 1;
		refuseIf(several && shared,
				"SHARED with permits, but any number may share a lock. Request it without permits, or"
						+ " as EXCLUSIVE");
		refuseIf(several && fair(),
				"fair with permits, but requests with permits are served in the order in which their"
						+ " JVMs came as it is. Request it without fair");
		refuseIf(several && fenced(),
				"fenced with permits, but a fencing token tells who wrote last, and several may write"
						+ " at the same time. Request it without fenced, or without permits");
		refuseIf(fenced() && this.keys.size() > 1,
				"fenced, but a fencing token is of one key. Request one key as fenced, and the others around it");
		Duration keepTime = keepTime();
		if (keepTime != null && !keepTime.isZero()) {
			requireToBeKept(shared, "SHARED");
			requireToBeKept(several, "with permits");
			requireToBeKept(fair(), "fair");
			requireToBeKept(fenced(), "fenced");
			requireToBeKept(this.keys.size() > 1, "with several keys");
			requireToBeKept(leaseTime() != null, "with a leaseTime");
			requireToBeKept(maxHoldTime() != null, "with a maxHoldTime");
			requireToBeKept(minHoldTime() != null, "with a minHoldTime");
			requireToBeKept(expireOnClose(), "left to expire on close (releaseOn = EXPIRY)");
		}
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof LockRequest request && this.keys.equals(request.keys)
				&& this.settings.equals(request.settings);
	}

	@Override
	public int hashCode() {
		return Objects.hash(this.keys, this.settings);
	}

	@Override
	public String toString() {
		StringBuilder text = new StringBuilder("LockRequest[keys=" + LockException.printable(this.keys));
		text.append(", name=").append(name()).append(", mode=").append(mode());
		this.settings.forEach((setting, value) -> {
			if (setting.text != null) {
				text.append(", ")
					.append(setting.text)
					.append((value == Boolean.TRUE) ? ""
							: "=" + ((value instanceof Duration time) ? DurationRange.text(time) : value));
			}
		});
		return text.append("]").toString();
	}

	private boolean is(Setting flag) {
		return this.settings.containsKey(flag);
	}

	private @Nullable Duration duration(Setting setting) {
		return (Duration) this.settings.get(setting);
	}

	private LockRequest flag(Setting flag, boolean set) {
		return with(flag, set ? Boolean.TRUE : null);
	}

	private LockRequest with(Setting setting, @Nullable Object value) {
		Map<Setting, Object> changed = new EnumMap<>(this.settings);
		changed.compute(setting, (same, before) -> value);
		return new LockRequest(this.keys, changed);
	}

	/*
	 * Each key once, in the order given, if all are usable.
	 */
	private static List<String> distinct(Collection<String> keys) {
		if (Objects.requireNonNull(keys, "keys").isEmpty()) {
			throw new IllegalArgumentException("A lock needs at least one key");
		}
		List<@Nullable String> given = (keys instanceof List<String> list) ? list : new ArrayList<>(keys);
		for (int index = 0; index < given.size(); index++) {
			String key = given.get(index);
			if (key == null || key.isBlank()) {
				throw new IllegalArgumentException("Lock key " + index + " of " + LockException.printable(keys) + " is "
						+ ((key != null) ? "blank" : "null")
						+ ": it would lock more, or less, than was meant. Check what it is made from");
			}
		}
		List<String> distinct = List.copyOf((keys.size() == 1) ? keys : new LinkedHashSet<>(keys));
		if (distinct.size() > MOST_KEYS) {
			throw new IllegalArgumentException("A lock of " + distinct.size() + " keys was requested, but at most "
					+ MOST_KEYS + " are allowed. Lock by a coarser key, such as that of what they all belong to");
		}
		return distinct;
	}

	private void requireToBeKept(boolean otherwise, String what) {
		refuseIf(otherwise,
				what + " and with a keepTime, but only a single key stays that is locked exclusively, renewed without"
						+ " limit and given back on close. Request it without keepTime, or with a keepTime of 0");
	}

	private void refuseIf(boolean refused, String what) {
		if (refused) {
			throw new IllegalArgumentException(
					"Lock " + LockException.printable(this.keys) + " was requested as " + what);
		}
	}

	private void requireMinHoldFits(Setting limiting) {
		Duration minHoldTime = minHoldTime();
		Duration limit = duration(limiting);
		if (minHoldTime != null && limit != null && minHoldTime.compareTo(limit) > 0) {
			throw new IllegalArgumentException("minHoldTime " + DurationRange.text(minHoldTime) + " of lock "
					+ LockException.printable(this.keys) + " is longer than its " + limiting.text + " "
					+ DurationRange.text(limit) + ": the lock would be free before");
		}
	}

	/**
	 * What can be set, in the order in which it is written.
	 */
	private enum Setting {

		NAME(null), SHARED(null), PERMITS("permits"), WAIT_TIME("waitTime"), LEASE_TIME("leaseTime"),
		MAX_HOLD_TIME("maxHoldTime"), MIN_HOLD_TIME("minHoldTime"), KEEP_TIME("keepTime"),
		EXPIRE_ON_CLOSE("expireOnClose"), FAIR("fair"), FENCED("fenced"), DETACHED("detached"),
		AWAITED_ON_STOP("awaitedOnStop"), UNINTERRUPTIBLE("uninterruptible");

		private final @Nullable String text;

		Setting(@Nullable String text) {
			this.text = text;
		}

	}

}
