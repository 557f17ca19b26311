package io.github.distributedlock;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

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
 * milliseconds. A request has at most 10,000 keys. {@link LockMode#SHARED} goes neither
 * with {@linkplain #fair(boolean) fair} nor with {@linkplain #fenced(boolean) fenced},
 * and fenced not with several keys. Anything else is refused by the wither that brings it
 * about, with an {@link IllegalArgumentException}.
 */
public final class LockRequest {

	/**
	 * The most keys of one request: {@value}.
	 */
	public static final int MOST_KEYS = 10_000;

	private final List<String> keys;

	/**
	 * All but the keys; those that differ in nothing else share it.
	 */
	private final Values values;

	private LockRequest(List<String> keys, Values values) {
		this.keys = keys;
		this.values = values;
		requireMinHoldFits("leaseTime", values.leaseTime);
		requireMinHoldFits("maxHoldTime", values.maxHoldTime);
		RequestChecks.requireCompatible(keys, values.mode, values.fair, values.fenced);
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
		return new LockRequest(RequestChecks.distinct(keys), Values.NONE);
	}

	/**
	 * The same request for other keys.
	 * @param keys the keys, neither null nor blank; repeated ones count once
	 * @return a request for those keys that is like this one otherwise
	 */
	public LockRequest keys(Collection<String> keys) {
		return new LockRequest(RequestChecks.distinct(keys), this.values);
	}

	/**
	 * Waits at most this long for the keys, all waiting and retrying included.
	 * @param waitTime the time; zero means one attempt
	 * @return a request that waits so long
	 */
	public LockRequest waitTime(Duration waitTime) {
		Duration checked = DurationRange.WAIT.check("waitTime", waitTime);
		return with((values) -> values.waitTime = checked);
	}

	/**
	 * Holds the lock for at most this long: the lease then runs out, and is not renewed,
	 * unless it is {@linkplain LockHandle#extend(Duration) extended}. Without, the lease
	 * is renewed until the handle is closed. With several keys it begins when the last
	 * one is acquired.
	 * @param leaseTime the fixed lease
	 * @return a request with that lease
	 */
	public LockRequest leaseTime(Duration leaseTime) {
		Duration checked = DurationRange.LEASE.check("leaseTime", leaseTime);
		return with((values) -> values.leaseTime = checked);
	}

	/**
	 * Renews the lease, but not beyond this long after it was acquired. Together with a
	 * {@linkplain #leaseTime(Duration) fixed lease} nothing is renewed: the lease is the
	 * shorter of the two, and {@link LockHandle#extend(Duration)} refuses to go beyond
	 * this.
	 * @param maxHoldTime the longest hold
	 * @return a request with that limit
	 */
	public LockRequest maxHoldTime(Duration maxHoldTime) {
		Duration checked = DurationRange.LEASE.check("maxHoldTime", maxHoldTime);
		return with((values) -> values.maxHoldTime = checked);
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
		Duration checked = DurationRange.HOLD.check("minHoldTime", minHoldTime);
		return with((values) -> values.minHoldTime = checked);
	}

	/**
	 * Leaves the lease to run out when the handle is closed, instead of giving the lock
	 * back.
	 * @param expireOnClose whether to leave it to run out
	 * @return a request that does so
	 */
	public LockRequest expireOnClose(boolean expireOnClose) {
		return with((values) -> values.expireOnClose = expireOnClose);
	}

	/**
	 * Who may hold the lock together; exclusive by default. {@link LockMode#SHARED} is
	 * refused together with {@linkplain #fair(boolean) fair} or
	 * {@linkplain #fenced(boolean) fenced}, by a store that cannot do it, and, for an
	 * exclusive request, by a thread that shares the lock already.
	 * @param mode the mode
	 * @return a request in that mode
	 */
	public LockRequest mode(LockMode mode) {
		Objects.requireNonNull(mode, "mode");
		return with((values) -> values.mode = mode);
	}

	/**
	 * Serves fair requests for the key strictly in the order of their arrival, across all
	 * JVMs and threads: none gets ahead of one that arrived, which is when the store has
	 * noted it, before. One that gives up is skipped, one whose JVM died is skipped
	 * within a second. With several keys, this holds for each of them from when the ones
	 * before it are held. Others that are not fair may be handed the lock inside their
	 * JVM meanwhile. Refused by a store that cannot do it.
	 * @param fair whether to do so
	 * @return a request that is fair, or not
	 */
	public LockRequest fair(boolean fair) {
		return with((values) -> values.fair = fair);
	}

	/**
	 * Asks for a {@linkplain LockHandle#fencingToken() fencing token}, with which the
	 * resource behind the lock can refuse the late write of a holder that has lost it.
	 * Only for a single key. A request that re-enters a lock without one is refused.
	 * @param fenced whether to ask for one; not by default
	 * @return a request with a token, or without
	 */
	public LockRequest fenced(boolean fenced) {
		return with((values) -> values.fenced = fenced);
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
		return with((values) -> values.detached = detached);
	}

	/**
	 * Lets a stop of the application wait until the handle is closed, for as long as that
	 * has time (with Spring Boot, {@code spring.lifecycle.timeout-per-shutdown-phase}),
	 * so that the lock is given back. For handles that are closed when a call ends, as
	 * those of annotated methods, {@code execute} and {@code run} are, and not for one
	 * that is held as long as the application runs.
	 * @param awaitedOnStop whether to wait; not by default
	 * @return a request that a stop waits for, or not
	 */
	public LockRequest awaitedOnStop(boolean awaitedOnStop) {
		return with((values) -> values.awaitedOnStop = awaitedOnStop);
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
		return with((values) -> values.interruptible = interruptible);
	}

	/**
	 * Names the use of the lock in events and meters.
	 * @param name one of few names, not made from the key
	 * @return a request of that name
	 */
	public LockRequest name(String name) {
		if (Objects.requireNonNull(name, "name").isBlank()) {
			throw new IllegalArgumentException("The name of a lock request must not be blank");
		}
		return with((values) -> values.name = name);
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
		return this.values.waitTime;
	}

	/**
	 * The fixed lease.
	 * @return the lease, or {@code null} if it is renewed
	 */
	public @Nullable Duration leaseTime() {
		return this.values.leaseTime;
	}

	/**
	 * The longest hold.
	 * @return the time, or {@code null} if there is none
	 */
	public @Nullable Duration maxHoldTime() {
		return this.values.maxHoldTime;
	}

	/**
	 * The shortest hold.
	 * @return the time, or {@code null} if there is none
	 */
	public @Nullable Duration minHoldTime() {
		return this.values.minHoldTime;
	}

	/**
	 * Whether the lease is left to run out on close.
	 * @return {@code false} if the lock is given back
	 */
	public boolean expireOnClose() {
		return this.values.expireOnClose;
	}

	/**
	 * The mode.
	 * @return exclusive or shared
	 */
	public LockMode mode() {
		return this.values.mode;
	}

	/**
	 * Whether requests are served strictly in order.
	 * @return whether it is fair
	 */
	public boolean fair() {
		return this.values.fair;
	}

	/**
	 * Whether a fencing token is asked for.
	 * @return whether it is fenced
	 */
	public boolean fenced() {
		return this.values.fenced;
	}

	/**
	 * Whether the handle is bound to no thread.
	 * @return whether it is detached
	 */
	public boolean detached() {
		return this.values.detached;
	}

	/**
	 * Whether a stop waits until the handle is closed.
	 * @return whether it is awaited
	 */
	public boolean awaitedOnStop() {
		return this.values.awaitedOnStop;
	}

	/**
	 * Whether an interrupt ends the wait.
	 * @return whether it is interruptible
	 */
	public boolean interruptible() {
		return this.values.interruptible;
	}

	/**
	 * The name for events and meters.
	 * @return the name, {@code unnamed} by default
	 */
	public String name() {
		return this.values.name;
	}

	@Override
	public String toString() {
		Values values = this.values;
		return "LockRequest[keys=" + LockException.printable(this.keys) + ", name=" + values.name + ", mode="
				+ values.mode + told("waitTime", values.waitTime) + told("leaseTime", values.leaseTime)
				+ told("maxHoldTime", values.maxHoldTime) + told("minHoldTime", values.minHoldTime)
				+ (values.expireOnClose ? ", expireOnClose" : "") + (values.fair ? ", fair" : "")
				+ (values.fenced ? ", fenced" : "") + (values.detached ? ", detached" : "")
				+ (values.awaitedOnStop ? ", awaitedOnStop" : "") + (values.interruptible ? "" : ", uninterruptible")
				+ "]";
	}

	private LockRequest with(Consumer<Values> change) {
		Values changed = new Values(this.values);
		change.accept(changed);
		return new LockRequest(this.keys, changed);
	}

	private void requireMinHoldFits(String what, @Nullable Duration limit) {
		RequestChecks.requireNotLonger(this.keys, this.values.minHoldTime, what, limit);
	}

	private static String told(String what, @Nullable Duration duration) {
		return (duration != null) ? ", " + what + "=" + duration : "";
	}

	/**
	 * What a request asks for. Changed only by a wither, before anybody else sees it.
	 */
	private static final class Values {

		private static final Values NONE = new Values();

		private @Nullable Duration waitTime;

		private @Nullable Duration leaseTime;

		private @Nullable Duration maxHoldTime;

		private @Nullable Duration minHoldTime;

		private LockMode mode = LockMode.EXCLUSIVE;

		private boolean fair;

		private boolean fenced;

		private boolean expireOnClose;

		private boolean detached;

		private boolean awaitedOnStop;

		private boolean interruptible = true;

		private String name = "unnamed";

		private Values() {
		}

		private Values(Values other) {
			this.waitTime = other.waitTime;
			this.leaseTime = other.leaseTime;
			this.maxHoldTime = other.maxHoldTime;
			this.minHoldTime = other.minHoldTime;
			this.mode = other.mode;
			this.fair = other.fair;
			this.fenced = other.fenced;
			this.expireOnClose = other.expireOnClose;
			this.detached = other.detached;
			this.awaitedOnStop = other.awaitedOnStop;
			this.interruptible = other.interruptible;
			this.name = other.name;
		}

	}

}
