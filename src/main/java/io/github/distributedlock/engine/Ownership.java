package io.github.distributedlock.engine;

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
 * over inside the JVM, for several, one after the other. It may stay vacant for a while,
 * until the next hold comes.
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
 * Invariants: each change of state is one compare-and-set, and those from RELEASING on
 * are final. So at most one hold has it, a loss reaches the one that has it then, and a
 * hold that has handed it on can do nothing to it any more: it is not handed over before
 * the store has answered every command that was sent for it. What the store answers to a
 * renewal counts only until the end. The lease ends here before the server may give the
 * key to another, and its end only moves later.
 */
final class Ownership {

	private enum Stage {

		VACANT, HELD, RELEASING, LOST,

		/**
		 * Lost while no hold had it.
		 */
		LOST_VACANT

	}

	/**
	 * One value for all, so that no thread sees a loss without its reason: the hold that
	 * has it, or whatever else there is to say.
	 */
	sealed interface State permits Hold, Other {

	}

	/**
	 * What a hold alone cannot say.
	 *
	 * @param hold the one that has it, has lost it, or has handed it on
	 * @param unanswered how many commands were sent for this owner that may be carried
	 * out yet: extensions, and an earlier attempt to acquire it
	 */
	private record Other(Stage stage, @Nullable Hold hold, @Nullable Reason loss, int unanswered) implements State {
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
	 * When it was acquired, or since when its request has all its keys: from then on the
	 * request's own limit counts.
	 */
	private volatile long begin;

	/**
	 * Whether its request collects other keys yet: until then any lease is renewed, the
	 * request's own limit does not count, and a loss concerns the request only. Changed
	 * only by this monitor.
	 */
	private volatile boolean collecting;

	private volatile State state;

	private volatile Lease lease;

	/**
	 * When it is renewed; {@code null} until the watchdog looks at it. Guarded by this.
	 */
	private Watchdog.@Nullable Plan plan;

	/**
	 * Creates one that is vacant.
	 * @param lease that of a grant may be shorter than what a renewal gives
	 * @param begin when the command was sent by which it was acquired, or when it was
	 * accepted, if it was granted some time after that
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
	 * What was asked of the store.
	 */
	Claim claim() {
		return this.claim;
	}

	EngineTime time() {
		return this.time;
	}

	/**
	 * Those of the request that acquired it. Those of later holds differ in nothing that
	 * concerns the lease.
	 */
	HoldOptions options() {
		return this.options;
	}

	/**
	 * For how long the key stays here when no request uses it, 0 if it does not.
	 */
	long keepTime() {
		return this.options.keepTime();
	}

	/**
	 * Whether it is vacant, and stays here until a request comes, if one does.
	 */
	boolean isKept() {
		return keepTime() > 0 && isVacant();
	}

	/**
	 * The lease that a renewal asks for: that of the claim, which is a short one if the
	 * key may stay here, until a hold has had it for most of the time to a renewal.
	 */
	long leaseToAsk() {
		long claimed = this.claim.lease().toNanos();
		Hold hold = hold();
		boolean isInUse = hold != null && isHeldBy(hold) && hold.held().toNanos() >= claimed / 4;
		return isInUse ? this.options.lease() : claimed;
	}

	/**
	 * Since when the key has been handed over in this JVM.
	 */
	long sliceStart() {
		return this.sliceStart;
	}

	private static Stage stage(State state) {
		return (state instanceof Other other) ? other.stage() : Stage.HELD;
	}

	private static @Nullable Hold hold(State state) {
		return (state instanceof Other other) ? other.hold() : (Hold) state;
	}

	private static int unanswered(State state) {
		return (state instanceof Other other) ? other.unanswered() : 0;
	}

	private static boolean isOwned(State state) {
		return stage(state) == Stage.VACANT || stage(state) == Stage.HELD;
	}

	private static boolean isHeldBy(State state, Hold hold) {
		return stage(state) == Stage.HELD && hold(state) == hold;
	}

	/**
	 * Whether it has not ended.
	 */
	boolean isOwned() {
		return isOwned(this.state);
	}

	boolean isLost() {
		Stage stage = stage(this.state);
		return stage == Stage.LOST || stage == Stage.LOST_VACANT;
	}

	/**
	 * Whether a hold has it.
	 */
	boolean isHeld() {
		return stage(this.state) == Stage.HELD;
	}

	boolean isVacant() {
		return stage(this.state) == Stage.VACANT;
	}

	boolean isHeldBy(Hold hold) {
		return isHeldBy(this.state, hold);
	}

	boolean isLostBy(Hold hold) {
		State state = this.state;
		return stage(state) == Stage.LOST && hold(state) == hold;
	}

	/**
	 * Gives it to a hold.
	 * @return {@code false} if it is not vacant any more
	 */
	boolean take(Hold hold) {
		return change((state) -> stage(state) == Stage.VACANT,
				(state) -> (unanswered(state) == 0) ? hold : new Other(Stage.HELD, hold, null, unanswered(state)));
	}

	/**
	 * Ends a hold, and keeps the key for the next one.
	 * @return {@code false} if that hold does not have it any more, or a command for it
	 * may be carried out yet, which would then be one for the next hold
	 */
	boolean vacate(Hold hold) {
		// The store is asked long after the last hold of a key that stays here: a loss
		// that it tells of is not one of that hold.
		State vacant = (keepTime() > 0) ? NEW : new Other(Stage.VACANT, hold, null, 0);
		return change((state) -> isHeldBy(state, hold) && unanswered(state) == 0, (state) -> vacant);
	}

	/**
	 * Ends it with a hold, to release the key.
	 * @return {@code false} if that hold does not have it any more
	 */
	boolean beginRelease(Hold hold) {
		return change((state) -> isHeldBy(state, hold), (state) -> (unanswered(state) == 0) ? RELEASING
				: new Other(Stage.RELEASING, null, null, unanswered(state)));
	}

	/**
	 * Ends it while no hold has it, to release the key or to pass it on.
	 * @return {@code false} if it is not vacant any more
	 */
	boolean beginRelease() {
		return change((state) -> stage(state) == Stage.VACANT,
				(state) -> new Other(Stage.RELEASING, hold(state), null, unanswered(state)));
	}

	/**
	 * To be called before an extension is sent: it counts until it is known to have ended
	 * within the hold.
	 * @return {@code false} if that hold does not have it any more
	 */
	boolean beginExtension(Hold hold) {
		return changeUnanswered(hold, 1);
	}

	/**
	 * An extension was carried out, or never will be.
	 * @return {@code false} if that hold does not have it any more
	 */
	boolean endExtension(Hold hold) {
		return changeUnanswered(hold, -1);
	}

	private boolean changeUnanswered(Hold hold, int more) {
		return change((state) -> isHeldBy(state, hold),
				(state) -> new Other(Stage.HELD, hold, null, unanswered(state) + more));
	}

	/**
	 * Ends it by a loss. A vacant one is not lost to a shutdown: the request that comes
	 * for it releases it. Nor is one that is about to be released.
	 * @return {@code false} if it had ended before
	 */
	boolean lose(Reason reason) {
		return change((state) -> {
			Hold last = hold(state);
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
	 * The hold that has it, has lost it, or has handed it on.
	 */
	@Nullable Hold hold() {
		return hold(this.state);
	}

	/**
	 * The request that has it, or has handed it on.
	 */
	LockRequest request() {
		Hold hold = hold();
		return ((hold != null) ? hold.options() : this.options).request();
	}

	LockMode mode() {
		Hold hold = hold();
		return (hold != null && hold.isShared()) ? LockMode.SHARED : this.options.mode();
	}

	/**
	 * How often its lease was renewed.
	 */
	synchronized int renewals() {
		return (this.plan != null) ? this.plan.count() : 0;
	}

	/**
	 * Whether it was lost to a shutdown, so that nothing may be deleted under its method.
	 */
	boolean isLeftToRunOut() {
		return this.state instanceof Other other && other.loss() == Reason.SHUTDOWN;
	}

	/**
	 * Whether a command was sent for this owner that was never answered, or too late, so
	 * that it may keep the key, or take it again, after this has ended.
	 */
	boolean isUnsettled() {
		return unanswered(this.state) > 0;
	}

	/**
	 * Why it was lost; if it was not lost, all that is known is that the store does not
	 * have it as ours.
	 */
	Reason lossReason() {
		Reason loss = (this.state instanceof Other other) ? other.loss() : null;
		return (loss != null) ? loss : Reason.TAKEN;
	}

	Lease lease() {
		return this.lease;
	}

	/**
	 * How long the lease was when it was granted or renewed last: that of a grant is
	 * shorter than the request's. An extension does not count.
	 */
	long wholeLease() {
		return Math.min(this.lease.nanos(), this.options.lease());
	}

	synchronized Watchdog.Plan plan() {
		if (this.plan == null) {
			this.plan = new Watchdog.Plan(this);
		}
		return this.plan;
	}

	/**
	 * The store has confirmed that the key is ours, for at least so long.
	 */
	synchronized void confirmed(Moment sent, long nanos) {
		Lease confirmed = new Lease(sent, nanos);
		Moment now = Moment.now(this.time);
		if (confirmed.left(now) > this.lease.left(now)) {
			this.lease = confirmed;
		}
	}

	/**
	 * Its request has all its keys: a fixed lease is not renewed any more, the request's
	 * own limit counts, and a loss is one of the user's lock.
	 * @return {@code false} if that hold has lost it already
	 */
	synchronized boolean collected(Hold hold, long since) {
		if (isHeldBy(hold)) {
			this.begin = since;
			this.collecting = false;
		}
		return !this.collecting;
	}

	/**
	 * Its request has lost another key, and collects again.
	 */
	synchronized void collect() {
		this.collecting = true;
	}

	synchronized boolean isCollecting() {
		return this.collecting;
	}

	/**
	 * Whether the lease has run out, so that it must be given up for lost.
	 */
	boolean isExpired() {
		return this.lease.left(Moment.now(this.time)) <= 0;
	}

	/**
	 * Why it is over, if the store did not say that the key was taken.
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
	 * For how long the key may still be held by the request's own limit, if it has one. A
	 * lease that was granted counts from before the hold: a limit without an end must not
	 * overflow.
	 */
	long maxHoldLeft(long now) {
		long longest = this.options.maxHold();
		return (longest == Long.MAX_VALUE || this.collecting) ? Long.MAX_VALUE : longest - (now - this.begin);
	}

	/**
	 * For how long at most the server keeps the key for us. It counts a lease that it has
	 * granted from then on, and that was before it was accepted. A grant counts as a full
	 * lease, since its first renewal may be under way.
	 */
	long leftOnServer() {
		Moment now = Moment.now(this.time);
		return Math.max(lease().leftOnServer(now), this.options.lease() - (now.nanos() - this.begin));
	}

}
