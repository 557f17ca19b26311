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

import io.github.distributedlock.internal.DurationRange;
import org.jspecify.annotations.Nullable;

/**
 * A request for a lock: the keys, and how to lock them. Requests are immutable: each
 * wither returns a new request. A value that is not set has the default of the
 * {@link DistributedLock} that gets the request.
 *
 * <pre class="code">
 * LockRequest.of("order:42", "customer:7").waitTime(Duration.ofSeconds(2)).name("checkout")
 * </pre>
 *
 * Durations are from 1 millisecond (0 for a wait) to 365 days; a lease is at least 100
 * milliseconds. A request has at most 10,000 keys. {@link LockMode#SHARED} and several
 * {@linkplain #permits(int) permits} go neither together nor with
 * {@linkplain #fair(boolean) fair} or {@linkplain #fenced(boolean) fenced}. Fenced does
 * not go with several keys. A wither refuses a value that is out of range, with an
 * {@link IllegalArgumentException}. Values that do not go together are refused when the
 * request is used, so that the order of the withers does not matter. {@code null} instead
 * of a duration or a name removes the value that was set before. Two requests are equal
 * if their keys, the order of the keys, and all other values are equal.
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
	 * The name, and all values that are not the default. The map is never changed;
	 * requests that differ only in their keys share the map.
	 */
	private final Map<Setting, Object> settings;

	/**
	 * The permits, in a field because each acquisition reads them several times.
	 */
	private final int permits;

	private LockRequest(List<String> keys, Map<Setting, Object> settings) {
		this.keys = keys;
		this.settings = settings;
		this.permits = (Integer) settings.getOrDefault(Setting.PERMITS, 1);
	}

	/**
	 * Returns a request for one or more keys: the request gets all keys or none.
	 * @param keys the keys, neither null nor blank; repeated ones count once
	 * @return the request
	 */
	public static LockRequest of(String... keys) {
		return of(Arrays.asList(keys));
	}

	/**
	 * Returns a request for one or more keys: the request gets all keys or none.
	 * @param keys the keys, neither null nor blank; repeated ones count once
	 * @return the request
	 */
	public static LockRequest of(Collection<String> keys) {
		return new LockRequest(distinct(keys), DEFAULTS);
	}

	/**
	 * Returns the same request for other keys.
	 * @param keys the keys, neither null nor blank; repeated ones count once
	 * @return a request for those keys that is like this one otherwise
	 */
	public LockRequest keys(Collection<String> keys) {
		return new LockRequest(distinct(keys), this.settings);
	}

	/**
	 * Sets the longest time to wait for the keys, all waiting and retrying included.
	 * @param waitTime the time; zero means one attempt, {@code null} the default of the
	 * lock
	 * @return a request with that wait time
	 */
	public LockRequest waitTime(@Nullable Duration waitTime) {
		return with(Setting.WAIT_TIME, (waitTime != null) ? DurationRange.WAIT.check("waitTime", waitTime) : null);
	}

	/**
	 * Sets a fixed lease, which is not renewed: the lock is held at most for this time,
	 * unless the lease is {@linkplain LockHandle#extend(Duration) extended}. Without a
	 * fixed lease, the lease is renewed until the handle is closed. With several keys,
	 * the fixed lease begins when the last key is acquired.
	 * @param leaseTime the fixed lease, or {@code null} for none
	 * @return a request with that lease
	 */
	public LockRequest leaseTime(@Nullable Duration leaseTime) {
		return with(Setting.LEASE_TIME, (leaseTime != null) ? DurationRange.LEASE.check("leaseTime", leaseTime) : null);
	}

	/**
	 * Sets the longest hold: the lease is renewed, but not beyond this time after the
	 * acquisition. Together with a {@linkplain #leaseTime(Duration) fixed lease} the
	 * lease is not renewed: the lease is the shorter of the two times, and
	 * {@link LockHandle#extend(Duration)} refuses to exceed the longest hold.
	 * @param maxHoldTime the longest hold, or {@code null} for no limit
	 * @return a request with that limit
	 */
	public LockRequest maxHoldTime(@Nullable Duration maxHoldTime) {
		return with(Setting.MAX_HOLD_TIME,
				(maxHoldTime != null) ? DurationRange.LEASE.check("maxHoldTime", maxHoldTime) : null);
	}

	/**
	 * Sets the shortest hold: the lock stays busy for others at least for this time after
	 * the acquisition, even if the lock is released earlier.
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
	 * Sets when the lock becomes free: when the handle is closed, or when the lease has
	 * run out after that.
	 * @param releaseOn the moment, by default {@link ReleaseOn#CLOSE}
	 * @return a request whose lock becomes free then
	 */
	public LockRequest releaseOn(ReleaseOn releaseOn) {
		return with(Setting.RELEASE_ON,
				(Objects.requireNonNull(releaseOn, "releaseOn") != ReleaseOn.CLOSE) ? releaseOn : null);
	}

	/**
	 * Lets the key stay with this JVM for so long after the last local holder has given
	 * it back, if no local request waits: the next local request takes it without asking
	 * the store. Another JVM that asks gets the key as soon as nobody has used it for a
	 * millisecond, and at the latest with the first release after the key has been here
	 * for this long. For a lock that one JVM mostly uses alone. Until it has been held
	 * for a second, a key that may stay has a short lease, of 3 seconds or five command
	 * timeouts if these are more, so that it is free so soon if this JVM dies. Nothing
	 * stays if no other JVM could ask. Refused together with anything but a single key
	 * that is locked exclusively, renewed without limit, and given back on close: with
	 * {@link LockMode#SHARED}, permits, fair, fenced, a lease time, a longest or shortest
	 * hold, or {@linkplain #releaseOn(ReleaseOn) release on expiry}.
	 * @param keepTime the time, 1 minute at most; zero: the key does not stay, unless the
	 * request takes one that stays here already; {@code null} for the default of the lock
	 * @return a request whose key stays so long
	 */
	public LockRequest keepTime(@Nullable Duration keepTime) {
		return with(Setting.KEEP_TIME, (keepTime != null) ? DurationRange.KEEP.check("keepTime", keepTime) : null);
	}

	/**
	 * Sets the mode: which holders may have the lock together. The default is exclusive.
	 * {@link LockMode#SHARED} is refused together with {@linkplain #fair(boolean) fair}
	 * or {@linkplain #fenced(boolean) fenced}, and by a store that does not support
	 * shared locks. An exclusive request is refused on a thread that shares the lock
	 * already.
	 * @param mode the mode
	 * @return a request in that mode
	 */
	public LockRequest mode(LockMode mode) {
		return flag(Setting.SHARED, Objects.requireNonNull(mode, "mode") == LockMode.SHARED);
	}

	/**
	 * Sets how many requests may hold the lock together, in all JVMs. The default is 1,
	 * an exclusive lock. The request gets the lock if at most this number of requests,
	 * this one included, then hold the lock. Only the number of the request itself
	 * counts; the store keeps no number, so that requests may differ. Each holder has a
	 * separate lease. A request with several permits does not overtake a JVM that waits
	 * already; JVMs take turns. Several permits are refused together with
	 * {@link LockMode#SHARED}, {@linkplain #fair(boolean) fair} or
	 * {@linkplain #fenced(boolean) fenced}, by a store that does not support permits, and
	 * on a thread that shares the lock already or holds the lock with more permits.
	 * @param permits the number, from 1 to {@value #MOST_PERMITS}
	 * @return a request with that number of permits
	 */
	public LockRequest permits(int permits) {
		if (permits < 1 || permits > MOST_PERMITS) {
			throw new IllegalArgumentException(
					"permits " + permits + " is out of range: at least 1, at most " + MOST_PERMITS);
		}
		return with(Setting.PERMITS, (permits > 1) ? permits : null);
	}

	/**
	 * Sets whether the request is fair. Fair requests for a key are served strictly in
	 * the order of their arrival, across all JVMs and threads: no fair request overtakes
	 * one that arrived before. A request arrives when the store has recorded the request.
	 * A request that gives up is skipped; a request whose JVM died is skipped within a
	 * second. With several keys, the order applies to each key from the moment that the
	 * request holds the preceding keys. Requests that are not fair may be handed the lock
	 * inside their JVM meanwhile. A store that does not support fair requests refuses
	 * them.
	 * @param fair {@code true} for a fair request; not by default
	 * @return a request that is fair, or not
	 */
	public LockRequest fair(boolean fair) {
		return flag(Setting.FAIR, fair);
	}

	/**
	 * Sets whether the lock comes with a {@linkplain LockHandle#fencingToken() fencing
	 * token}. With the token, the resource behind the lock can refuse the late write of a
	 * holder that has lost the lock. A fenced request has a single key. A fenced request
	 * that would re-enter a lock without a token is refused.
	 * @param fenced {@code true} to ask for a token; not by default
	 * @return a request with a token, or without
	 */
	public LockRequest fenced(boolean fenced) {
		return flag(Setting.FENCED, fenced);
	}

	/**
	 * Sets whether the handle is detached, that is, not bound to the acquiring thread. A
	 * detached handle is not current on that thread, and no request re-enters the lock.
	 * So the handle may outlive the task that acquired the lock, and any thread may close
	 * the handle. Use a detached request for futures, reactive results and tasks of a
	 * {@link java.util.concurrent.ForkJoinPool}. {@link CurrentLock#bind(LockHandle)}
	 * makes the handle current for as long as a task runs. The request itself re-enters
	 * the locks that the thread holds, as any other request does.
	 * @param detached {@code true} for a detached handle; not by default
	 * @return a request whose handle is bound to no thread, or to the acquiring one
	 */
	public LockRequest detached(boolean detached) {
		return flag(Setting.DETACHED, detached);
	}

	/**
	 * Sets whether a stop of the application waits until the handle is closed, so that
	 * the lock is released. The stop waits at most for the time that a stop has (with
	 * Spring Boot, {@code spring.lifecycle.timeout-per-shutdown-phase}). Use this setting
	 * for handles that are closed when a call ends, not for a handle that is held as long
	 * as the application runs.
	 * @param awaitedOnStop {@code true} to wait, {@code false} not to wait, {@code null}
	 * for the default: a stop waits for code that is run with the lock, but not for
	 * {@code acquire} and {@code tryAcquire}
	 * @return a request that a stop waits for, or not
	 */
	public LockRequest awaitedOnStop(@Nullable Boolean awaitedOnStop) {
		return with(Setting.AWAITED_ON_STOP, awaitedOnStop);
	}

	/**
	 * Sets whether an interrupt ends the wait, with a {@link LockInterruptedException}.
	 * An uninterruptible request goes on waiting and keeps the place in the queue; the
	 * thread's interrupt flag is set again afterwards. Use an uninterruptible request for
	 * code that needs the lock in any case, such as a clean-up. The wait still ends with
	 * the {@linkplain #waitTime(Duration) wait time}, and with a stop of the application.
	 * @param interruptible {@code true} to end the wait, which is the default
	 * @return a request that can be interrupted, or cannot
	 */
	public LockRequest interruptible(boolean interruptible) {
		return flag(Setting.UNINTERRUPTIBLE, !interruptible);
	}

	/**
	 * Sets the name of this use of the lock in events and meters.
	 * @param name the name, one of few, not made from the key; {@code null} for
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
	 * Returns the keys, in the order given, without duplicates.
	 * @return the keys
	 */
	public List<String> keys() {
		return this.keys;
	}

	/**
	 * Returns the longest time to wait.
	 * @return the time, or {@code null} for the default
	 */
	public @Nullable Duration waitTime() {
		return duration(Setting.WAIT_TIME);
	}

	/**
	 * Returns the fixed lease.
	 * @return the lease, or {@code null} if the lease is renewed
	 */
	public @Nullable Duration leaseTime() {
		return duration(Setting.LEASE_TIME);
	}

	/**
	 * Returns the longest hold.
	 * @return the time, or {@code null} if there is none
	 */
	public @Nullable Duration maxHoldTime() {
		return duration(Setting.MAX_HOLD_TIME);
	}

	/**
	 * Returns the shortest hold.
	 * @return the time, or {@code null} if there is none
	 */
	public @Nullable Duration minHoldTime() {
		return duration(Setting.MIN_HOLD_TIME);
	}

	/**
	 * Returns how long a key that nobody uses stays with the JVM.
	 * @return the time, or {@code null} for the default
	 */
	public @Nullable Duration keepTime() {
		return duration(Setting.KEEP_TIME);
	}

	/**
	 * Returns when the lock becomes free.
	 * @return the moment, by default {@link ReleaseOn#CLOSE}
	 */
	public ReleaseOn releaseOn() {
		return (ReleaseOn) this.settings.getOrDefault(Setting.RELEASE_ON, ReleaseOn.CLOSE);
	}

	/**
	 * Returns the mode.
	 * @return exclusive or shared
	 */
	public LockMode mode() {
		return is(Setting.SHARED) ? LockMode.SHARED : LockMode.EXCLUSIVE;
	}

	/**
	 * Returns how many requests may hold the lock together.
	 * @return the number, 1 for an exclusive or shared lock
	 */
	public int permits() {
		return this.permits;
	}

	/**
	 * Returns whether the request is fair: fair requests are served strictly in order.
	 * @return {@code true} if the request is fair, {@code false} by default
	 */
	public boolean fair() {
		return is(Setting.FAIR);
	}

	/**
	 * Returns whether the request asks for a fencing token.
	 * @return {@code true} if the request is fenced, {@code false} by default
	 */
	public boolean fenced() {
		return is(Setting.FENCED);
	}

	/**
	 * Returns whether the handle is bound to no thread.
	 * @return {@code true} if the request is detached, {@code false} by default
	 */
	public boolean detached() {
		return is(Setting.DETACHED);
	}

	/**
	 * Returns whether a stop of the application waits until the handle is closed.
	 * @return {@code true} if a stop waits, {@code false} by default
	 */
	public boolean awaitedOnStop() {
		return Boolean.TRUE.equals(this.settings.get(Setting.AWAITED_ON_STOP));
	}

	/**
	 * Returns whether an interrupt ends the wait.
	 * @return {@code true} if the request is interruptible, which is the default
	 */
	public boolean interruptible() {
		return !is(Setting.UNINTERRUPTIBLE);
	}

	/**
	 * Returns the name for events and meters.
	 * @return the name, {@code unnamed} by default
	 */
	public String name() {
		return (String) Objects.requireNonNull(this.settings.get(Setting.NAME));
	}

	/**
	 * Throws an exception unless the settings of this request go together. Each
	 * {@link DistributedLock} does this check when a request is used. Code that creates
	 * requests early calls this method to fail early.
	 * @throws IllegalArgumentException if the settings do not go together
	 */
	public void requireValid() {
		requireMinHoldFits(Setting.LEASE_TIME);
		requireMinHoldFits(Setting.MAX_HOLD_TIME);
		boolean shared = mode() == LockMode.SHARED;
		refuseIf(shared && fair(), "SHARED and fair, but shared requests queue behind waiting exclusive ones"
				+ " anyway. Request it without fair");
		refuseIf(shared && fenced(), "SHARED and fenced, but a fencing token orders writes, and shared locks are"
				+ " for reading. Request it without fenced, or as EXCLUSIVE");
		boolean several = permits() > 1;
		refuseIf(several && shared,
				"SHARED with permits, but any number may share a lock. Request it without permits, or"
						+ " as EXCLUSIVE");
		refuseIf(several && fair(), "fair with permits, but requests with permits are served in the order of their JVMs"
				+ " anyway. Request it without fair");
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
			requireToBeKept(releaseOn() == ReleaseOn.EXPIRY, "with releaseOn = EXPIRY");
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
	 * Returns each key once, in the order given, or throws an exception if a key is null
	 * or blank or there are too few or too many keys.
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
						+ ": it would lock more, or less, than was meant. Check the values that the key is made from");
			}
		}
		List<String> distinct = List.copyOf((keys.size() == 1) ? keys : new LinkedHashSet<>(keys));
		if (distinct.size() > MOST_KEYS) {
			throw new IllegalArgumentException("A lock of " + distinct.size() + " keys was requested, but at most "
					+ MOST_KEYS
					+ " are allowed. Lock one coarser key, such as that of the order instead of those of its items");
		}
		return distinct;
	}

	private void requireToBeKept(boolean otherwise, String what) {
		refuseIf(otherwise,
				what + " and with a keepTime, but a lock stays only if it has one key and is exclusive, renewed without"
						+ " limit and released on close. Request it without keepTime, or with a keepTime of 0");
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
					+ DurationRange.text(limit) + ": the lock would be free before its minHoldTime is over");
		}
	}

	/**
	 * The settings, in the order in which {@link LockRequest#toString()} writes them.
	 */
	private enum Setting {

		NAME(null), SHARED(null), PERMITS("permits"), WAIT_TIME("waitTime"), LEASE_TIME("leaseTime"),
		MAX_HOLD_TIME("maxHoldTime"), MIN_HOLD_TIME("minHoldTime"), KEEP_TIME("keepTime"), RELEASE_ON("releaseOn"),
		FAIR("fair"), FENCED("fenced"), DETACHED("detached"), AWAITED_ON_STOP("awaitedOnStop"),
		UNINTERRUPTIBLE("uninterruptible");

		private final @Nullable String text;

		Setting(@Nullable String text) {
			this.text = text;
		}

	}

}
