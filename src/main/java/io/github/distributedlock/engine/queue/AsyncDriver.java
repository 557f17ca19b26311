package io.github.distributedlock.engine.queue;

import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

import io.github.distributedlock.engine.runtime.EngineTime;
import io.github.distributedlock.engine.runtime.NodeTasks;
import org.jspecify.annotations.Nullable;

/**
 * Takes one request to its end that no thread waits for: the second driver of an
 * {@link Acquisition}, beside {@link Wait#run}.
 *
 * <table>
 * <caption>States</caption>
 * <tr>
 * <td>DUE</td>
 * <td>stands in its node's line for a thread that may ask the store</td>
 * </tr>
 * <tr>
 * <td>RUNS</td>
 * <td>one thread sees to it</td>
 * </tr>
 * <tr>
 * <td>WOKEN</td>
 * <td>the same, and it has to look again before it parks</td>
 * </tr>
 * <tr>
 * <td>PARKED</td>
 * <td>waits for a signal or a time</td>
 * </tr>
 * <tr>
 * <td>ENDED</td>
 * <td>for good</td>
 * </tr>
 * </table>
 *
 * <pre>
 * RUNS ──► PARKED    nothing is to be done now
 * PARKED ──► DUE     woken by a signal
 * RUNS ──► DUE       has to ask, on a thread that may not
 * DUE ──► RUNS       first in line; or withdrawn, or its time is over
 * PARKED ──► RUNS    a pause is over, or it is withdrawn
 * RUNS ◄──► WOKEN    woken, so that it does not leave RUNS but for ENDED
 * </pre>
 *
 * Invariants: the thread that has made it RUNS owns it, with all fields that are not
 * volatile, until it changes the state again. Whatever concerns it (a permit of the
 * signal that it waits for, the end of a pause, its withdrawal) is there to be seen
 * first, and wakes it then; its owner looks for all of them before it parks. So it may be
 * woken, and a place in a line be left over, for nothing, but nothing is missed. It ends
 * once.
 * <p>
 * Only threads that come by a line ask the store. What it comes to without asking, as
 * when its time is over or it is withdrawn, is done by the timer's thread and by the one
 * that withdraws: a node that stalls makes no request late that has begun.
 */
public final class AsyncDriver implements Runnable, Waker {

	private enum State {

		PARKED, DUE, RUNS, WOKEN, ENDED

	}

	/**
	 * Whose request it is. Called by its owner, which is not to be blocked.
	 */
	public interface Client {

		/**
		 * Which node of the store it asks next.
		 */
		Object node();

		/**
		 * For how long the request may yet wait, in nanoseconds.
		 */
		long left();

		/**
		 * For how long its first step may yet stand in line, in nanoseconds.
		 */
		long patience();

		/**
		 * It has stood in line for longer.
		 */
		RuntimeException impatient();

		/**
		 * The first step begins, on a thread that may ask the store if that step may.
		 */
		void begins();

		/**
		 * The request has ended. Called once.
		 * @param failure why it has failed, else {@code null}
		 */
		void ended(@Nullable Throwable failure);

	}

	private static final AtomicReferenceFieldUpdater<AsyncDriver, State> STATE = AtomicReferenceFieldUpdater
		.newUpdater(AsyncDriver.class, State.class, "state");

	/**
	 * How soon it tries again to get a thread.
	 */
	private static final long RETRY = TimeUnit.MILLISECONDS.toNanos(100);

	private final NodeTasks tasks;

	private final EngineTime time;

	private volatile State state = State.DUE;

	private volatile boolean withdrawn;

	private @Nullable Acquisition acquisition;

	private @Nullable Client client;

	private @Nullable Object node;

	private boolean begun;

	/**
	 * What the acquisition has said last.
	 */
	private long pause = Acquisition.NEXT_KEY;

	/**
	 * When the pause is over.
	 */
	private long until;

	private EngineTime.@Nullable Alarm pauseAlarm;

	/**
	 * Rings when its time is over. Set only if it parks, or its line stands.
	 */
	private EngineTime.@Nullable Alarm deadlineAlarm;

	private long deadline;

	public AsyncDriver(NodeTasks tasks, EngineTime time) {
		this.tasks = tasks;
		this.time = time;
	}

	/**
	 * Begins, on the calling thread as far as the store need not be asked. To be called
	 * once.
	 * @param acquisition the request, of which this is the waker
	 */
	public void start(Acquisition acquisition, Client client) {
		this.acquisition = acquisition;
		this.client = client;
		look();
	}

	/**
	 * Gives the request up, on the calling thread, if it has not ended.
	 */
	public void withdraw() {
		this.withdrawn = true;
		look();
	}

	@Override
	public void wake() {
		for (State now = this.state; now == State.PARKED || now == State.RUNS; now = this.state) {
			if (STATE.compareAndSet(this, now, (now == State.RUNS) ? State.WOKEN : State.DUE)) {
				if (now == State.PARKED) {
					standInLine(Objects.requireNonNull(this.node, "node"));
				}
				return;
			}
		}
	}

	/**
	 * Goes on at once, on the calling thread, as far as the store need not be asked.
	 */
	private void look() {
		for (State now = this.state; now != State.WOKEN && now != State.ENDED; now = this.state) {
			if (STATE.compareAndSet(this, now, (now == State.RUNS) ? State.WOKEN : State.RUNS)) {
				if (now != State.RUNS) {
					see(false);
				}
				return;
			}
		}
	}

	/**
	 * Waits for a thread that may ask.
	 */
	private void standInLine(Object node) {
		try {
			this.tasks.run(node, this);
		}
		catch (OutOfMemoryError noThread) {
			// Unless somebody has come to see to it all the same.
			if (STATE.compareAndSet(this, State.DUE, State.PARKED)) {
				this.time.schedule(this::wake, RETRY);
			}
		}
	}

	/**
	 * It is the first in line, perhaps in vain.
	 */
	@Override
	public void run() {
		if (STATE.compareAndSet(this, State.DUE, State.RUNS)) {
			see(true);
		}
	}

	/**
	 * Sees to the request, whose owner is the calling thread.
	 * @param asks whether this thread may ask the store
	 */
	private void see(boolean asks) {
		boolean ended = true;
		Throwable failure = null;
		try {
			ended = !goOn(asks);
		}
		catch (Throwable ex) {
			failure = ex;
		}
		if (ended) {
			end(failure);
		}
	}

	/**
	 * Goes on for as long as there is anything to be done.
	 * @return {@code false} if the request has ended; else it may be another thread's
	 * already
	 */
	private boolean goOn(boolean asks) throws InterruptedException {
		Acquisition acquisition = acquisition();
		cancel(this.pauseAlarm);
		boolean asksHere = asks;
		while (this.pause != Acquisition.ENDED) {
			if (this.withdrawn) {
				throw new CancellationException("The request was withdrawn");
			}
			boolean pauses = this.pause != Acquisition.NEXT_KEY;
			boolean signalled = pauses && acquisition.signal().availablePermits() > 0;
			if (pauses && !signalled && left() > 0) {
				if (parks()) {
					return true;
				}
			}
			else if (asksHere || !acquisition.mayAsk(signalled)) {
				begin();
				this.pause = acquisition.goOn(signalled && acquisition.signal().tryAcquire());
				this.until = this.time.nanoTime() + this.pause;
				asksHere &= this.pause != Acquisition.NEXT_KEY; // Its node may be
																// another.
			}
			else if (standsInLine()) {
				return true;
			}
		}
		return false;
	}

	private void begin() {
		requirePatience();
		if (!this.begun) {
			this.begun = true;
			client().begins();
		}
	}

	private void requirePatience() {
		if (!this.begun && client().patience() <= 0) {
			throw client().impatient();
		}
	}

	private long left() {
		return this.until - this.time.nanoTime();
	}

	private boolean standsInLine() {
		requirePatience();
		Object node = client().node();
		if (this.tasks.isFull(node)) {
			setDeadline();
		}
		boolean changes = changes(State.DUE);
		if (changes) {
			standInLine(node);
		}
		return changes;
	}

	private boolean parks() {
		this.node = client().node();
		setDeadline();
		if (this.deadlineAlarm == null || this.until - this.deadline < 0) {
			this.pauseAlarm = this.time.schedule(this::look, left());
		}
		boolean changes = changes(State.PARKED);
		if (!changes) {
			cancel(this.pauseAlarm);
		}
		return changes;
	}

	/**
	 * Runs no longer, unless it was woken since it began to look.
	 */
	private boolean changes(State next) {
		boolean changes = STATE.compareAndSet(this, State.RUNS, next);
		if (!changes) {
			this.state = State.RUNS;
		}
		return changes;
	}

	/**
	 * Sets the alarm for the end of its time, or, if its first step may stand in line for
	 * longer, for the end of its patience.
	 */
	private void setDeadline() {
		long now = this.time.nanoTime();
		if (this.deadlineAlarm != null && this.deadline - now > 0) {
			return;
		}
		long left = client().left();
		long delay = (left > 0 || this.begun) ? left : client().patience();
		cancel(this.deadlineAlarm);
		this.deadline = now + delay;
		this.deadlineAlarm = (delay > 0) ? this.time.schedule(this::look, delay) : null;
	}

	private static void cancel(EngineTime.@Nullable Alarm alarm) {
		if (alarm != null) {
			alarm.cancel();
		}
	}

	private void end(@Nullable Throwable failure) {
		cancel(this.pauseAlarm);
		cancel(this.deadlineAlarm);
		this.state = State.ENDED;
		Throwable why = failure;
		try {
			acquisition().end();
		}
		catch (Throwable ex) {
			why = (failure != null) ? failure : ex;
		}
		client().ended(why);
	}

	private Client client() {
		return Objects.requireNonNull(this.client, "client");
	}

	private Acquisition acquisition() {
		return Objects.requireNonNull(this.acquisition, "acquisition");
	}

}
