package io.github.distributedlock;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
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
 * milliseconds. Anything else is refused with an {@link IllegalArgumentException}.
 */
public final class LockRequest {

	/**
	 * The shortest lease that can be told from a slow network: {@value} milliseconds.
	 */
	public static final long SHORTEST_LEASE_MILLIS = 100;

	private static final Duration LONGEST = Duration.ofDays(365);

	private final List<String> keys;

	private final @Nullable Duration waitTime;

	private final @Nullable Duration leaseTime;

	private final @Nullable Duration maxHoldTime;

	private final @Nullable Duration minHoldTime;

	private final LockMode mode;

	private final boolean fair;

	private final boolean fenced;

	private final boolean expireOnClose;

	private final String name;

	private LockRequest(Draft draft) {
		this.keys = draft.keys;
		this.waitTime = draft.waitTime;
		this.leaseTime = draft.leaseTime;
		this.maxHoldTime = draft.maxHoldTime;
		this.minHoldTime = draft.minHoldTime;
		this.mode = draft.mode;
		this.fair = draft.fair;
		this.fenced = draft.fenced;
		this.expireOnClose = draft.expireOnClose;
		this.name = draft.name;
		requireNotLonger("leaseTime", this.leaseTime);
		requireNotLonger("maxHoldTime", this.maxHoldTime);
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
		return new LockRequest(new Draft(distinct(keys)));
	}

	/**
	 * The same request for other keys.
	 * @param keys the keys, neither null nor blank; repeated ones count once
	 * @return a request for those keys that is like this one otherwise
	 */
	public LockRequest keys(Collection<String> keys) {
		return new LockRequest(new Draft(this, distinct(keys)));
	}

	/**
	 * Waits at most this long for the keys, all waiting and retrying included.
	 * @param waitTime the time; zero means one attempt
	 * @return a request that waits so long
	 */
	public LockRequest waitTime(Duration waitTime) {
		Draft draft = new Draft(this);
		draft.waitTime = between("waitTime", waitTime, Duration.ZERO);
		return new LockRequest(draft);
	}

	/**
	 * Holds the lock for at most this long: the lease then runs out, and is not renewed.
	 * Without, the lease is renewed until the handle is closed.
	 * @param leaseTime the fixed lease
	 * @return a request with that lease
	 */
	public LockRequest leaseTime(Duration leaseTime) {
		Draft draft = new Draft(this);
		draft.leaseTime = between("leaseTime", leaseTime, Duration.ofMillis(SHORTEST_LEASE_MILLIS));
		return new LockRequest(draft);
	}

	/**
	 * Renews the lease, but not beyond this long after it was acquired.
	 * @param maxHoldTime the longest hold
	 * @return a request with that limit
	 */
	public LockRequest maxHoldTime(Duration maxHoldTime) {
		Draft draft = new Draft(this);
		draft.maxHoldTime = between("maxHoldTime", maxHoldTime, Duration.ofMillis(SHORTEST_LEASE_MILLIS));
		return new LockRequest(draft);
	}

	/**
	 * Keeps others out for at least this long after it was acquired, even if it is given
	 * back earlier.
	 * @param minHoldTime the shortest hold, not longer than a
	 * {@linkplain #leaseTime(Duration) fixed lease} or the
	 * {@linkplain #maxHoldTime(Duration) longest hold}
	 * @return a request with that minimum
	 */
	public LockRequest minHoldTime(Duration minHoldTime) {
		Draft draft = new Draft(this);
		draft.minHoldTime = between("minHoldTime", minHoldTime, Duration.ofMillis(1));
		return new LockRequest(draft);
	}

	/**
	 * Leaves the lease to run out when the handle is closed, instead of giving the lock
	 * back.
	 * @param expireOnClose whether to leave it to run out
	 * @return a request that does so
	 */
	public LockRequest expireOnClose(boolean expireOnClose) {
		Draft draft = new Draft(this);
		draft.expireOnClose = expireOnClose;
		return new LockRequest(draft);
	}

	/**
	 * Who may hold the lock together; exclusive by default.
	 * @param mode the mode
	 * @return a request in that mode
	 */
	public LockRequest mode(LockMode mode) {
		Draft draft = new Draft(this);
		draft.mode = Objects.requireNonNull(mode, "mode");
		return new LockRequest(draft);
	}

	/**
	 * Serves requests for the key strictly in the order of their arrival, across all
	 * JVMs.
	 * @param fair whether to do so
	 * @return a request that is fair, or not
	 */
	public LockRequest fair(boolean fair) {
		Draft draft = new Draft(this);
		draft.fair = fair;
		return new LockRequest(draft);
	}

	/**
	 * Asks for a {@linkplain LockHandle#fencingToken() fencing token}.
	 * @param fenced whether to ask for one
	 * @return a request with a token, or without
	 */
	public LockRequest fenced(boolean fenced) {
		Draft draft = new Draft(this);
		draft.fenced = fenced;
		return new LockRequest(draft);
	}

	/**
	 * Names the use of the lock in events and meters.
	 * @param name one of few names, not made from the key
	 * @return a request of that name
	 */
	public LockRequest name(String name) {
		if (name.isBlank()) {
			throw new IllegalArgumentException("The name of a lock request must not be blank");
		}
		Draft draft = new Draft(this);
		draft.name = name;
		return new LockRequest(draft);
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
		return this.waitTime;
	}

	/**
	 * The fixed lease.
	 * @return the lease, or {@code null} if it is renewed
	 */
	public @Nullable Duration leaseTime() {
		return this.leaseTime;
	}

	/**
	 * The longest hold.
	 * @return the time, or {@code null} if there is none
	 */
	public @Nullable Duration maxHoldTime() {
		return this.maxHoldTime;
	}

	/**
	 * The shortest hold.
	 * @return the time, or {@code null} if there is none
	 */
	public @Nullable Duration minHoldTime() {
		return this.minHoldTime;
	}

	/**
	 * Whether the lease is left to run out on close.
	 * @return {@code false} if the lock is given back
	 */
	public boolean expireOnClose() {
		return this.expireOnClose;
	}

	/**
	 * The mode.
	 * @return exclusive or shared
	 */
	public LockMode mode() {
		return this.mode;
	}

	/**
	 * Whether requests are served strictly in order.
	 * @return whether it is fair
	 */
	public boolean fair() {
		return this.fair;
	}

	/**
	 * Whether a fencing token is asked for.
	 * @return whether it is fenced
	 */
	public boolean fenced() {
		return this.fenced;
	}

	/**
	 * The name for events and meters.
	 * @return the name, {@code unnamed} by default
	 */
	public String name() {
		return this.name;
	}

	@Override
	public String toString() {
		return "LockRequest[keys=" + this.keys + ", name=" + this.name + ", mode=" + this.mode
				+ told("waitTime", this.waitTime) + told("leaseTime", this.leaseTime)
				+ told("maxHoldTime", this.maxHoldTime) + told("minHoldTime", this.minHoldTime)
				+ (this.expireOnClose ? ", expireOnClose" : "") + (this.fair ? ", fair" : "")
				+ (this.fenced ? ", fenced" : "") + "]";
	}

	private static List<String> distinct(Collection<String> keys) {
		if (keys.isEmpty()) {
			throw new IllegalArgumentException("A lock needs at least one key");
		}
		int index = 0;
		for (@Nullable
		String key : keys) {
			if (key == null || key.isBlank()) {
				throw new IllegalArgumentException("Lock key " + index + " of " + keys + " is "
						+ ((key != null) ? "blank" : "null") + ": it would lock more, or less, than was meant");
			}
			index++;
		}
		return (keys.size() == 1) ? List.copyOf(keys) : List.copyOf(new LinkedHashSet<>(keys));
	}

	private static String told(String what, @Nullable Duration duration) {
		return (duration != null) ? ", " + what + "=" + duration : "";
	}

	private static Duration between(String what, Duration duration, Duration least) {
		if (duration.compareTo(least) < 0 || duration.compareTo(LONGEST) > 0) {
			throw new IllegalArgumentException(
					what + " " + duration + " is out of range: at least " + least.toMillis() + " ms, at most 365 days");
		}
		return duration;
	}

	private void requireNotLonger(String what, @Nullable Duration limit) {
		if (this.minHoldTime != null && limit != null && this.minHoldTime.compareTo(limit) > 0) {
			throw new IllegalArgumentException("minHoldTime " + this.minHoldTime + " of lock " + this.keys
					+ " is longer than its " + what + " " + limit + ": the lock would be free before");
		}
	}

	/**
	 * A request in the making, so that each wither names only what it changes.
	 */
	private static final class Draft {

		private final List<String> keys;

		private @Nullable Duration waitTime;

		private @Nullable Duration leaseTime;

		private @Nullable Duration maxHoldTime;

		private @Nullable Duration minHoldTime;

		private LockMode mode = LockMode.EXCLUSIVE;

		private boolean fair;

		private boolean fenced;

		private boolean expireOnClose;

		private String name = "unnamed";

		private Draft(List<String> keys) {
			this.keys = keys;
		}

		private Draft(LockRequest request) {
			this(request, request.keys);
		}

		private Draft(LockRequest request, List<String> keys) {
			this.keys = keys;
			this.waitTime = request.waitTime;
			this.leaseTime = request.leaseTime;
			this.maxHoldTime = request.maxHoldTime;
			this.minHoldTime = request.minHoldTime;
			this.mode = request.mode;
			this.fair = request.fair;
			this.fenced = request.fenced;
			this.expireOnClose = request.expireOnClose;
			this.name = request.name;
		}

	}

}
