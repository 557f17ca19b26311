package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.engine.Lease.Moment;
import org.jspecify.annotations.Nullable;

/**
 * One key that this JVM owns in the store.
 *
 * <pre>
 *           last handle closed
 *   HELD ─────────────────────► RELEASING
 *     │
 *     │ past the deadline, not ours any more, engine stopped
 *     └───────────────────────► LOST
 * </pre>
 *
 * Invariants: the state changes at most once, by one compare-and-set; what the store
 * answers to a renewal counts only while HELD. The lease ends here before the server may
 * give the key to another, and its end only moves later.
 */
final class Hold {

	/**
	 * One value for both, so that nobody sees a loss without its reason.
	 */
	private record State(boolean held, @Nullable Reason loss) {

		static final State HELD = new State(true, null);

		static final State RELEASING = new State(false, null);

	}

	final String key;

	final String owner;

	final Terms terms;

	final Turn turn;

	/**
	 * Whether a command was sent for this owner that was never answered, or too late, so
	 * that it may keep the key, or take it again, after this hold has ended.
	 */
	volatile boolean unsettled;

	final OptionalLong fencingToken;

	private final EngineTime time;

	private final long acquired;

	private final long begin;

	private final AtomicReference<State> state = new AtomicReference<>(State.HELD);

	private volatile Lease lease;

	private final AtomicInteger entries = new AtomicInteger(1);

	private final List<EngineHandle> handles = new CopyOnWriteArrayList<>();

	private volatile long minHold;

	Hold(Turn turn, String owner, Terms terms, OptionalLong fencingToken, Moment sent, boolean unsettled,
			EngineTime time) {
		this.key = turn.key;
		this.owner = owner;
		this.terms = terms;
		this.fencingToken = fencingToken;
		this.turn = turn;
		this.unsettled = unsettled;
		this.time = time;
		this.acquired = time.nanoTime();
		this.begin = sent.nanos();
		this.minHold = terms.minHold();
		this.lease = new Lease(sent, terms.lease(), terms.margin());
	}

	private State state() {
		return Objects.requireNonNull(this.state.get());
	}

	boolean isHeld() {
		return state().held();
	}

	boolean isLost() {
		return state().loss() != null;
	}

	boolean beginRelease() {
		return this.state.compareAndSet(State.HELD, State.RELEASING);
	}

	boolean lose(Reason reason) {
		return this.state.compareAndSet(State.HELD, new State(false, reason));
	}

	/**
	 * Whether it was lost to a shutdown, so that nothing may be deleted under its method.
	 */
	boolean isLeftToRunOut() {
		return state().loss() == Reason.SHUTDOWN;
	}

	/**
	 * Why it was lost; if it was not, nobody has said anything but that it is gone.
	 */
	Reason lossReason() {
		Reason loss = state().loss();
		return (loss != null) ? loss : Reason.TAKEN;
	}

	Lease lease() {
		return this.lease;
	}

	/**
	 * The store has confirmed that the key is ours, for at least so long.
	 */
	synchronized void confirmed(Moment sent, long nanos) {
		Lease confirmed = new Lease(sent, nanos, this.terms.margin());
		Moment now = Moment.now(this.time);
		if (confirmed.left(now) > this.lease.left(now)) {
			this.lease = confirmed;
		}
	}

	/**
	 * Whether the lease has run out, so that the hold must be given up for lost.
	 */
	boolean isOver() {
		return lease().left(Moment.now(this.time)) <= 0;
	}

	/**
	 * Why it is over, if nobody said that the key was taken.
	 */
	Reason overReason() {
		if (!this.terms.renewed()) {
			return Reason.LEASE_EXPIRED;
		}
		// The last lease was asked for in whole milliseconds, and may end almost one
		// early.
		long early = this.terms.margin() + TimeUnit.MILLISECONDS.toNanos(1);
		return (maxHoldLeft(this.time.nanoTime()) <= early) ? Reason.MAX_HOLD_TIME : Reason.NOT_RENEWED;
	}

	/**
	 * For how long the key may still be held by the request's own limit.
	 */
	long maxHoldLeft(long now) {
		return this.terms.maxHold() - (now - this.begin);
	}

	Duration held() {
		return Duration.ofNanos(this.time.nanoTime() - this.acquired);
	}

	/**
	 * For how long at most the server keeps the key for us.
	 */
	long leftOnServer() {
		return lease().leftOnServer(Moment.now(this.time));
	}

	/**
	 * For how long the key is to block others when it is given back now; 0 to free it.
	 */
	long rest() {
		long minimum = this.minHold - (this.time.nanoTime() - this.acquired);
		long expiry = this.terms.expireOnClose() ? leftOnServer() : 0;
		return Math.max(0, Math.max(minimum, expiry));
	}

	/**
	 * Counts one more handle, unless the last one is closed already.
	 */
	boolean reenter() {
		return this.entries.getAndUpdate((count) -> (count > 0) ? count + 1 : 0) > 0;
	}

	/**
	 * Keeps others out for at least so long from now.
	 */
	synchronized void keepAtLeast(long nanos) {
		this.minHold = Math.max(this.minHold, this.time.nanoTime() - this.acquired + nanos);
	}

	/**
	 * Counts one handle less.
	 * @return whether it was the last one
	 */
	boolean exit() {
		return this.entries.decrementAndGet() == 0;
	}

	void attach(EngineHandle handle) {
		this.handles.add(handle);
	}

	void detach(EngineHandle handle) {
		this.handles.remove(handle);
	}

	List<EngineHandle> handles() {
		return this.handles;
	}

}
