package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.engine.Lease.Moment;
import org.jspecify.annotations.Nullable;

/**
 * A key that this JVM owns in the store under one owner token: for one hold or, handed
 * over inside the JVM, for several, one after the other. An ownership may stay vacant for
 * a while, until the next hold comes.
 *
 * <pre>
 *            taken              released
 *   VACANT ──────────► HELD ──────────────────► RELEASING
 *     │ ▲               │ │                         ▲
 *     │ └───────────────┘ │ past the deadline,      │
 *     │    handed over    │ not ours any more,      │
 *     │                   ▼ engine stopped          │
 *     ├────────────────► LOST                       │
 *     └─────────────────────────────────────────────┘
 *                 no request wanted it
 * </pre>
 *
 * Invariants: each change of state is one compare-and-set, and RELEASING and LOST are
 * final. So at most one hold has the ownership, and a loss reaches the hold that has the
 * ownership then. A hold that has handed the ownership on can do nothing to the key any
 * more: no hand-over happens before the store has answered every command that was sent
 * for the ownership. An answer of the store to a renewal counts only until the ownership
 * ends. The lease ends here before the server may give the key to another owner, and the
 * end of the lease only moves later.
 */
final class Ownership {

	private enum Stage {

		VACANT, HELD, RELEASING, LOST,

		/**
		 * The key was lost while no hold had it.
		 */
		LOST_VACANT

	}

	/**
	 * The whole state in one value, so that no thread sees a loss without its reason. The
	 * value is the hold that has the ownership, or an {@link Other}.
	 */
	private interface State {

	}

	/**
	 * What an ownership, and whoever renews or loses the ownership, knows of a hold.
	 */
	interface Possession extends State {

		LockRequest request();

		LockMode mode();

		/**
		 * Returns for how long the hold has lasted.
		 */
		Duration held();

		/**
		 * Returns whether the last handle is closed, so that the hold is about to be
		 * released.
		 */
		boolean isLeft();

		/**
		 * Takes notice of the loss of the hold. Does not block and does not throw.
		 */
		void lost();

		/**
		 * Leaves the local queue, since the hold has ended.
		 */
		void leaveQueue();

	}

	/**
	 * A state that a hold alone cannot express.
	 *
	 * @param hold the hold that has the ownership, has lost it, or has handed it on
	 * @param unanswered how many commands were sent for this owner that may be carried
	 * out yet: extensions, and an earlier attempt to acquire the key
	 */
	private record Other(Stage stage, @Nullable Possession hold, @Nullable Reason loss,
			int unanswered) implements State {
	}

	private static final State NEW = new Other(Stage.VACANT, null, null, 0);

	private static final State RELEASING = new Other(Stage.RELEASING, null, null, 0);

	private static final AtomicReferenceFieldUpdater<Ownership, State> STATE = AtomicReferenceFieldUpdater
		.newUpdater(Ownership.class, State.class, "state");

	private final Claim claim;

	private final HoldOptions options;

	private final long sliceStart;

	private final EngineTime time;

	/**
	 * When the key was acquired, or since when its request has all its keys: from then on
	 * the request's own limit counts.
	 */
	private volatile long begin;

	/**
	 * True while the request collects other keys: until then any lease is renewed, the
	 * request's own limit does not count, and a loss concerns the request only. Changed
	 * only under this monitor.
	 */
	private volatile boolean collecting;

	private volatile State state;

	private volatile Lease lease;

	/**
	 * The plan of the renewals; {@code null} until the watchdog looks at this ownership.
	 * Guarded by this.
	 */
	private @Nullable Plan plan;

	/**
	 * Creates a vacant ownership.
	 * @param lease the lease of the answer; a lease of a grant may be shorter than what a
	 * renewal gives
	 * @param begin when the command was sent that acquired the key, or when a grant was
	 * accepted, if the key was granted some time after the command
	 * @param unsettled whether an earlier command was never answered
	 */
	Ownership(Claim claim, HoldOptions options, Lease lease, long begin, long sliceStart, boolean unsettled,
			EngineTime time) {
		this.claim = claim;
		this.options = options;
		this.sliceStart = sliceStart;
		this.state = unsettled ? new Other(Stage.VACANT, null, null, 1) : NEW;
		this.time = time;
		this.begin = begin;
		this.collecting = options.collects();
		this.lease = lease;
	}

	String key() {
		return this.claim.key();
	}

	String owner() {
		return this.claim.owner();
	}

	/**
	 * Returns the claim that the store was asked for.
	 */
	Claim claim() {
		return this.claim;
	}

	EngineTime time() {
		return this.time;
	}

	/**
	 * Returns the options of the request that acquired the key. The options of later
	 * holds differ in nothing that concerns the lease.
	 */
	HoldOptions options() {
		return this.options;
	}

	/**
	 * Returns for how long the key stays here without a request that uses the key, in
	 * nanoseconds; 0 if the key does not stay.
	 */
	long keepTime() {
		return this.options.keepTime();
	}

	/**
	 * Returns whether this ownership is vacant, and the key stays here until a request
	 * comes, if one does.
	 */
	boolean isKept() {
		return keepTime() > 0 && isVacant();
	}

	/**
	 * Returns the lease that a renewal asks for, in nanoseconds. That is the lease of the
	 * claim, which is a short one if the key may stay here, until a hold has had the key
	 * for most of the time to a renewal.
	 */
	long leaseToAsk() {
		long claimed = this.claim.lease().toNanos();
		Possession hold = hold();
		boolean isInUse = hold != null && isHeldBy(hold) && hold.held().toNanos() >= claimed / 4;
		return isInUse ? this.options.lease() : claimed;
	}

	/**
	 * Returns since when the key has been handed over in this JVM.
	 */
	long sliceStart() {
		return this.sliceStart;
	}

	private static Stage stage(State state) {
		return (state instanceof Other other) ? other.stage() : Stage.HELD;
	}

	private static @Nullable Possession hold(State state) {
		return (state instanceof Other other) ? other.hold() : (Possession) state;
	}

	private static int unanswered(State state) {
		return (state instanceof Other other) ? other.unanswered() : 0;
	}

	private static boolean isOwned(State state) {
		return stage(state) == Stage.VACANT || stage(state) == Stage.HELD;
	}

	private static boolean isHeldBy(State state, Possession hold) {
		return stage(state) == Stage.HELD && hold(state) == hold;
	}

	/**
	 * Returns whether this ownership has not ended.
	 */
	boolean isOwned() {
		return isOwned(this.state);
	}

	boolean isLost() {
		Stage stage = stage(this.state);
		return stage == Stage.LOST || stage == Stage.LOST_VACANT;
	}

	/**
	 * Returns whether a hold has this ownership.
	 */
	boolean isHeld() {
		return stage(this.state) == Stage.HELD;
	}

	boolean isVacant() {
		return stage(this.state) == Stage.VACANT;
	}

	boolean isHeldBy(Possession hold) {
		return isHeldBy(this.state, hold);
	}

	boolean isLostBy(Possession hold) {
		State state = this.state;
		return stage(state) == Stage.LOST && hold(state) == hold;
	}

	/**
	 * Gives this ownership to a hold.
	 * @return {@code false} if the ownership is not vacant any more
	 */
	boolean take(Possession hold) {
		return change((state) -> stage(state) == Stage.VACANT,
				(state) -> (unanswered(state) == 0) ? hold : new Other(Stage.HELD, hold, null, unanswered(state)));
	}

	/**
	 * Ends a hold, and keeps the key for the next one.
	 * @return {@code false} if that hold does not have the ownership any more. Also
	 * {@code false} if a command for that hold may be carried out yet, which would then
	 * affect the next hold
	 */
	boolean vacate(Possession hold) {
		// The store is asked long after the last hold of a key that stays here: a loss
		// that the store reports then is not a loss of that hold.
		State vacant = (keepTime() > 0) ? NEW : new Other(Stage.VACANT, hold, null, 0);
		return change((state) -> isHeldBy(state, hold) && unanswered(state) == 0, (state) -> vacant);
	}

	/**
	 * Ends this ownership together with a hold, to release the key.
	 * @return {@code false} if that hold does not have the ownership any more
	 */
	boolean beginRelease(Possession hold) {
		return change((state) -> isHeldBy(state, hold), (state) -> (unanswered(state) == 0) ? RELEASING
				: new Other(Stage.RELEASING, null, null, unanswered(state)));
	}

	/**
	 * Ends this ownership while no hold has it, to release the key or to pass the key on.
	 * @return {@code false} if the ownership is not vacant any more
	 */
	boolean beginRelease() {
		return change((state) -> stage(state) == Stage.VACANT,
				(state) -> new Other(Stage.RELEASING, hold(state), null, unanswered(state)));
	}

	/**
	 * Counts an extension, and must be called before the extension is sent. The extension
	 * counts until its end within the hold is known.
	 * @return {@code false} if that hold does not have the ownership any more
	 */
	boolean beginExtension(Possession hold) {
		return changeUnanswered(hold, 1);
	}

	/**
	 * Takes note that an extension was carried out, or never will be.
	 * @return {@code false} if that hold does not have the ownership any more
	 */
	boolean endExtension(Possession hold) {
		return changeUnanswered(hold, -1);
	}

	private boolean changeUnanswered(Possession hold, int more) {
		return change((state) -> isHeldBy(state, hold),
				(state) -> new Other(Stage.HELD, hold, null, unanswered(state) + more));
	}

	/**
	 * Ends this ownership by a loss. A vacant ownership is not lost to a shutdown: the
	 * request that comes for the key releases the key. An ownership that is about to be
	 * released is not lost to a shutdown either.
	 * @return {@code false} if the ownership had ended before, or is not lost to a
	 * shutdown
	 */
	boolean lose(Reason reason) {
		return change((state) -> {
			Possession last = hold(state);
			return isOwned(state)
					&& (reason != Reason.SHUTDOWN || (stage(state) == Stage.HELD && last != null && !last.isLeft()));
		}, (state) -> new Other((stage(state) == Stage.VACANT) ? Stage.LOST_VACANT : Stage.LOST, hold(state), reason,
				unanswered(state)));
	}

	private boolean change(Predicate<State> from, UnaryOperator<State> to) {
		for (State state = this.state; from.test(state); state = this.state) {
			if (STATE.compareAndSet(this, state, to.apply(state))) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Returns the hold that has this ownership, has lost it, or has handed it on.
	 */
	@Nullable Possession hold() {
		return hold(this.state);
	}

	/**
	 * Returns the request that has this ownership, or has handed it on.
	 */
	LockRequest request() {
		Possession hold = hold();
		return (hold != null) ? hold.request() : this.options.request();
	}

	LockMode mode() {
		Possession hold = hold();
		return (hold != null) ? hold.mode() : this.options.mode();
	}

	/**
	 * Returns how often the lease was renewed.
	 */
	synchronized int renewals() {
		return (this.plan != null) ? this.plan.count() : 0;
	}

	/**
	 * Returns whether the key was lost to a shutdown, so that the key must not be deleted
	 * under a method that still runs.
	 */
	boolean isLeftToRunOut() {
		return this.state instanceof Other other && other.loss() == Reason.SHUTDOWN;
	}

	/**
	 * Returns whether a command was sent for this owner that was never answered, or too
	 * late. Then the owner may keep the key, or take the key again, after this ownership
	 * has ended.
	 */
	boolean isUnsettled() {
		return unanswered(this.state) > 0;
	}

	/**
	 * Returns why the key was lost. If the key was not lost, all that is known is that
	 * the store does not have the key as ours.
	 */
	Reason lossReason() {
		Reason loss = (this.state instanceof Other other) ? other.loss() : null;
		return (loss != null) ? loss : Reason.TAKEN;
	}

	Lease lease() {
		return this.lease;
	}

	/**
	 * Returns the length of the lease at the last grant or renewal, in nanoseconds: a
	 * lease of a grant is shorter than the request's. An extension does not count.
	 */
	long wholeLease() {
		return Math.min(this.lease.nanos(), this.options.lease());
	}

	synchronized Plan plan() {
		if (this.plan == null) {
			this.plan = new Plan();
		}
		return this.plan;
	}

	/**
	 * Takes note that the store has confirmed that the key is ours, for at least so long.
	 */
	synchronized void confirmed(Moment sent, long nanos) {
		Lease confirmed = new Lease(sent, nanos);
		Moment now = Moment.now(this.time);
		if (confirmed.left(now) > this.lease.left(now)) {
			this.lease = confirmed;
		}
	}

	/**
	 * Takes note that the request has all its keys: a fixed lease is not renewed any
	 * more, the request's own limit counts, and a loss is one of the user's lock.
	 * @return {@code false} if that hold has lost the key already
	 */
	synchronized boolean collected(Possession hold, long since) {
		if (isHeldBy(hold)) {
			this.begin = since;
			this.collecting = false;
		}
		return !this.collecting;
	}

	/**
	 * Takes note that the request has lost another key, and collects again.
	 */
	synchronized void collect() {
		this.collecting = true;
	}

	synchronized boolean isCollecting() {
		return this.collecting;
	}

	/**
	 * Returns whether the lease has run out, so that the key must be given up for lost.
	 */
	boolean isExpired() {
		return this.lease.left(Moment.now(this.time)) <= 0;
	}

	/**
	 * Returns why the lease is over, if the store did not say that the key was taken.
	 */
	Reason expiryReason() {
		if (!this.options.renewed() && !this.collecting) {
			return Reason.LEASE_EXPIRED;
		}
		// The last lease was asked for in whole milliseconds, and may end almost one
		// early.
		long early = lease().margin() + TimeUnit.MILLISECONDS.toNanos(1);
		return (maxHoldLeft(this.time.nanoTime()) <= early) ? Reason.MAX_HOLD_TIME : Reason.NOT_RENEWED;
	}

	/**
	 * Returns for how long the request's own limit lets the key be held yet, in
	 * nanoseconds; {@link Long#MAX_VALUE} without a limit, or while the request collects
	 * keys. A lease that was granted counts from before the hold: a limit without an end
	 * must not overflow.
	 */
	long maxHoldLeft(long now) {
		long longest = this.options.maxHold();
		return (longest == Long.MAX_VALUE || this.collecting) ? Long.MAX_VALUE : longest - (now - this.begin);
	}

	/**
	 * Returns for how long at most the server keeps the key for us, in nanoseconds. The
	 * server counts a granted lease from the grant, which came before the grant was
	 * accepted here. A grant counts as a full lease, since its first renewal may be under
	 * way.
	 */
	long leftOnServer() {
		Moment now = Moment.now(this.time);
		return Math.max(lease().leftOnServer(now), this.options.lease() - (now.nanos() - this.begin));
	}

	/**
	 * When a guarded ownership is to be renewed next. Plans are written by one round at a
	 * time, and by a request whose keys are renewed before they are handed out: each plan
	 * is written whole, and the later one counts. Either plan is right, since the store
	 * has confirmed the lease from when its command was sent, or is asked again soon.
	 */
	final class Plan {

		private static final long SHORTEST_RETRY = TimeUnit.MILLISECONDS.toNanos(20);

		private static final long LONGEST_RETRY = TimeUnit.MILLISECONDS.toNanos(500);

		private volatile boolean planned;

		private volatile boolean underWay;

		private volatile boolean retrying;

		private volatile long at;

		/**
		 * The lease that the store has confirmed last, which may end before the present
		 * one, if that was made longer.
		 */
		private volatile Lease confirmed = Ownership.this.lease;

		/**
		 * How often the store has renewed the lease.
		 */
		private volatile int count;

		Plan() {
			plan(this.confirmed, wholeLease());
		}

		/**
		 * Plans the renewal after a lease that the store has confirmed. The last renewal
		 * ends the lease where the longest hold ends, to the millisecond, so that no
		 * renewal follows.
		 */
		private void plan(Lease lease, long nanos) {
			long sent = lease.sent();
			this.confirmed = lease;
			this.at = sent + nanos / 3;
			this.retrying = false;
			this.planned = Ownership.this.options.renewed()
					&& maxHoldLeft(sent) - nanos >= TimeUnit.MILLISECONDS.toNanos(1);
			this.underWay = false;
		}

		/**
		 * Counts a renewal by the store, and plans the next one.
		 */
		synchronized void renewed(Lease lease) {
			this.count++;
			plan(lease, lease.nanos());
		}

		int count() {
			return this.count;
		}

		/**
		 * Plans to try again soon, for the store failed.
		 */
		synchronized void retry(long now) {
			this.at = now + Math.max(SHORTEST_RETRY, Math.min(LONGEST_RETRY, Ownership.this.options.lease() / 20));
			this.retrying = true;
			this.underWay = false;
		}

		synchronized void begin() {
			this.underWay = true;
		}

		/**
		 * Plans to try a renewal again soon that was begun and came to no end.
		 */
		synchronized void retryUnlessEnded(long now) {
			if (this.underWay) {
				retry(now);
			}
		}

		/**
		 * Returns whether a renewal is to come. One is while a request collects its keys,
		 * even if their lease is fixed.
		 */
		boolean isPlanned() {
			return this.planned || isCollecting();
		}

		/**
		 * Returns whether the lease has run out. A lease that can still be renewed and is
		 * only suspect is renewed first, to see.
		 */
		boolean isExpired(Moment now) {
			Lease lease = Ownership.this.lease;
			return (isPlanned() ? lease.monotonicLeft(now) : lease.left(now)) <= 0;
		}

		/**
		 * Returns whether to renew now: the planned time has come, the machine may have
		 * been suspended since the store confirmed a lease, or the store may have
		 * forgotten the lease.
		 * @param doubted the store may have forgotten what was sent before that time
		 */
		boolean isDue(Moment now, long doubted) {
			boolean isTime = this.at - now.nanos() <= 0;
			if (this.confirmed.sent() - doubted < 0) {
				return !this.underWay && (!this.retrying || isTime);
			}
			return isPossible() && (isTime || (!this.retrying && this.confirmed.isSuspect(now)));
		}

		/**
		 * Returns whether to renew now if another lease is due, to share its command: in
		 * the second half of the time between two renewals. So all locks of a node come
		 * to be renewed at the same time, and stay so, however far apart they were
		 * acquired.
		 */
		boolean isNearlyDue(Moment now) {
			long slack = this.retrying ? 0 : (this.at - this.confirmed.sent()) / 2;
			return isPossible() && this.at - now.nanos() <= slack;
		}

		private boolean isPossible() {
			return isPlanned() && !this.underWay;
		}

		/**
		 * Returns how long nothing needs to be done, in nanoseconds.
		 */
		long nanosToNextEvent(Moment now) {
			long toDeadline = Ownership.this.lease.monotonicLeft(now);
			return (isPossible() || this.retrying) ? Math.min(toDeadline, this.at - now.nanos()) : toDeadline;
		}

		/**
		 * Returns the lease to ask for, trimmed to end where the longest hold ends. If
		 * the lease is not to be longer, this is what is left of the lease.
		 */
		Duration lease(Moment now) {
			long nanos = isPlanned() ? Math.min(leaseToAsk(), maxHoldLeft(now.nanos()))
					: Ownership.this.lease.leftOnServer(now);
			return Duration.ofMillis(Math.max(1, TimeUnit.NANOSECONDS.toMillis(nanos)));
		}

	}

}
