package io.github.distributedlock.engine.lease;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.UnaryOperator;

import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.engine.lease.Lease.Moment;
import io.github.distributedlock.engine.runtime.EngineTime;
import org.jspecify.annotations.Nullable;

/**
 * A key that this JVM owns in the store under one owner token: for one hold or, handed on
 * inside the JVM, for several, one after the other.
 *
 * <pre>
 *            taken              given back
 *   VACANT ──────────► HELD ──────────────────► RELEASING
 *     │ ▲               │ │                         ▲
 *     │ └───────────────┘ │ past the deadline,      │
 *     │    handed on      │ not ours any more,      │
 *     │                   ▼ engine stopped          │
 *     ├────────────────► LOST                       │
 *     └─────────────────────────────────────────────┘
 *                 nobody wanted it
 * </pre>
 *
 * Invariants: each change of state is one compare-and-set, and the last two are final. So
 * at most one hold has it, a loss reaches the one that has it then, and a hold that has
 * handed it on can do nothing to it any more: it is not handed on before the store has
 * answered every extension that its hold has asked for. What the store answers to a
 * renewal counts only until the end. The lease ends here before the server may give the
 * key to another, and its end only moves later.
 */
public final class Ownership {

	private enum Stage {

		VACANT, HELD, RELEASING, LOST

	}

	/**
	 * One value for all, so that no thread sees a loss without its reason.
	 *
	 * @param hold the one that has it, has lost it, or has handed it on
	 * @param extensions how many extensions were sent and may be carried out yet
	 */
	private record State(Stage stage, @Nullable Hold hold, @Nullable Reason loss, int extensions) {

		public boolean isOwned() {
			return this.stage == Stage.VACANT || this.stage == Stage.HELD;
		}

		boolean isHeldBy(Hold hold) {
			return this.stage == Stage.HELD && this.hold == hold;
		}

	}

	private static final State NEW = new State(Stage.VACANT, null, null, 0);

	private static final State RELEASING = new State(Stage.RELEASING, null, null, 0);

	private static final AtomicReferenceFieldUpdater<Ownership, State> STATE = AtomicReferenceFieldUpdater
		.newUpdater(Ownership.class, State.class, "state");

	private final String key;

	private final String owner;

	private final HoldOptions options;

	private final long sliceStart;

	private final boolean acquiredUnsettled;

	private final EngineTime time;

	private final long begin;

	private volatile State state = NEW;

	private volatile Lease lease;

	/**
	 * When it is renewed; {@code null} until the watchdog looks after it. Guarded by
	 * this.
	 */
	private @Nullable Renewal renewal;

	/**
	 * Creates one that is vacant.
	 * @param sent when the command was sent by which it was acquired
	 * @param unsettled whether an earlier one was never answered
	 */
	public Ownership(String key, String owner, HoldOptions options, Moment sent, long sliceStart, boolean unsettled,
			EngineTime time) {
		this.key = key;
		this.owner = owner;
		this.options = options;
		this.sliceStart = sliceStart;
		this.acquiredUnsettled = unsettled;
		this.time = time;
		this.begin = sent.nanos();
		this.lease = new Lease(sent, options.lease());
	}

	String key() {
		return this.key;
	}

	public String owner() {
		return this.owner;
	}

	/**
	 * Those of the request that acquired it. Those of later holds differ in nothing that
	 * concerns the lease.
	 */
	public HoldOptions options() {
		return this.options;
	}

	/**
	 * Since when the key has been handed on in this JVM.
	 */
	public long sliceStart() {
		return this.sliceStart;
	}

	/**
	 * Whether it has not ended.
	 */
	public boolean isOwned() {
		return this.state.isOwned();
	}

	boolean isLost() {
		return this.state.stage() == Stage.LOST;
	}

	/**
	 * Whether a hold has it.
	 */
	public boolean isHeld() {
		return this.state.stage() == Stage.HELD;
	}

	public boolean isVacant() {
		return this.state.stage() == Stage.VACANT;
	}

	boolean isHeldBy(Hold hold) {
		return this.state.isHeldBy(hold);
	}

	boolean isLostBy(Hold hold) {
		State state = this.state;
		return state.stage() == Stage.LOST && state.hold() == hold;
	}

	/**
	 * Gives it to a hold.
	 * @return {@code false} if it is not vacant any more
	 */
	public boolean take(Hold hold) {
		State state = this.state;
		return state.stage() == Stage.VACANT && STATE.compareAndSet(this, state, new State(Stage.HELD, hold, null, 0));
	}

	/**
	 * Ends a hold, and keeps the key for the next one.
	 * @return {@code false} if that hold does not have it any more, or an extension of it
	 * may be carried out yet, which would then be one of the next hold
	 */
	public boolean vacate(Hold hold) {
		State state = this.state;
		return state.isHeldBy(hold) && state.extensions() == 0
				&& STATE.compareAndSet(this, state, new State(Stage.VACANT, hold, null, 0));
	}

	/**
	 * Ends it with a hold, to give the key back.
	 * @return {@code false} if that hold does not have it any more
	 */
	public boolean beginRelease(Hold hold) {
		return change(hold, (state) -> (state.extensions() == 0) ? RELEASING
				: new State(Stage.RELEASING, null, null, state.extensions()));
	}

	/**
	 * To be called before an extension is sent: it counts until it is known to have ended
	 * within the hold.
	 * @return {@code false} if that hold does not have it any more
	 */
	boolean beginExtension(Hold hold) {
		return change(hold, (state) -> new State(Stage.HELD, hold, null, state.extensions() + 1));
	}

	/**
	 * An extension was carried out, or never will be.
	 * @return {@code false} if that hold does not have it any more
	 */
	boolean endExtension(Hold hold) {
		return change(hold, (state) -> new State(Stage.HELD, hold, null, state.extensions() - 1));
	}

	private boolean change(Hold hold, UnaryOperator<State> change) {
		while (true) {
			State state = this.state;
			if (!state.isHeldBy(hold)) {
				return false;
			}
			if (STATE.compareAndSet(this, state, change.apply(state))) {
				return true;
			}
		}
	}

	/**
	 * Ends it while no hold has it, to give the key back or to pass it on.
	 * @return {@code false} if it is not vacant any more
	 */
	public boolean beginRelease() {
		State state = this.state;
		return state.stage() == Stage.VACANT
				&& STATE.compareAndSet(this, state, new State(Stage.RELEASING, state.hold(), null, 0));
	}

	/**
	 * Ends it by a loss. A vacant one is not lost to a shutdown: the request that comes
	 * for it gives it back. Nor is one that is about to be given back.
	 * @return {@code false} if it had ended before
	 */
	boolean lose(Reason reason) {
		while (true) {
			State state = this.state;
			if (!state.isOwned()) {
				return false;
			}
			Hold loser = (state.stage() == Stage.HELD) ? state.hold() : null;
			if (reason == Reason.SHUTDOWN && (loser == null || loser.isLeft())) {
				return false;
			}
			if (STATE.compareAndSet(this, state, new State(Stage.LOST, loser, reason, state.extensions()))) {
				return true;
			}
		}
	}

	/**
	 * The hold that has it, has lost it, or has handed it on.
	 */
	public @Nullable Hold hold() {
		return this.state.hold();
	}

	/**
	 * The name of the request that has it, or has handed it on.
	 */
	String name() {
		Hold hold = hold();
		return (hold != null) ? hold.options().name() : this.options.name();
	}

	/**
	 * Describes it to users.
	 */
	EngineSnapshot.Hold describe(Moment now) {
		return new EngineSnapshot.Hold(this.key, this.owner, name(), this.options.mode(),
				Duration.ofNanos(Math.max(0, lease().left(now))));
	}

	/**
	 * Whether it was lost to a shutdown, so that nothing may be deleted under its method.
	 */
	boolean isLeftToRunOut() {
		return this.state.loss() == Reason.SHUTDOWN;
	}

	/**
	 * Whether a command was sent for this owner that was never answered, or too late, so
	 * that it may keep the key, or take it again, after this has ended.
	 */
	public boolean isUnsettled() {
		return this.acquiredUnsettled || this.state.extensions() > 0;
	}

	/**
	 * Why it was lost; if it was not lost, all that is known is that the store does not
	 * have it as ours.
	 */
	public Reason lossReason() {
		Reason loss = this.state.loss();
		return (loss != null) ? loss : Reason.TAKEN;
	}

	public Lease lease() {
		return this.lease;
	}

	synchronized Renewal renewal() {
		if (this.renewal == null) {
			this.renewal = new Renewal(this);
		}
		return this.renewal;
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
	 * Whether the lease has run out, so that it must be given up for lost.
	 */
	public boolean isOver() {
		return this.lease.isOver(this.time);
	}

	/**
	 * Why it is over, if the store did not say that the key was taken.
	 */
	Reason overReason() {
		if (!this.options.renewed()) {
			return Reason.LEASE_EXPIRED;
		}
		// The last lease was asked for in whole milliseconds, and may end almost one
		// early.
		long early = lease().margin() + TimeUnit.MILLISECONDS.toNanos(1);
		return (maxHoldLeft(this.time.nanoTime()) <= early) ? Reason.MAX_HOLD_TIME : Reason.NOT_RENEWED;
	}

	/**
	 * For how long the key may still be held by the request's own limit.
	 */
	long maxHoldLeft(long now) {
		return this.options.maxHold() - (now - this.begin);
	}

	/**
	 * For how long at most the server keeps the key for us.
	 */
	long leftOnServer() {
		return lease().leftOnServer(Moment.now(this.time));
	}

}
