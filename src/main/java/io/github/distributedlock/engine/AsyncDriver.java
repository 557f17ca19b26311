package io.github.distributedlock.engine;

import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.engine.Wait.Acquisition;
import io.github.distributedlock.engine.Wait.Acquisition.Await;
import io.github.distributedlock.engine.Wait.Acquisition.Need;
import io.github.distributedlock.engine.Wait.Acquisition.Next;
import org.jspecify.annotations.Nullable;

/**
 * Takes a request that no thread waits for to its end. This is the second driver of an
 * {@link Acquisition}, beside {@link Wait#run}.
 *
 * <pre>
 * DUE       stands in the line of a node for a thread that may ask the store
 * RUNS      one thread takes care of it
 * WOKEN     the same, and that thread looks again before it leaves
 * SUSPENDED waits for a signal or a time
 * ENDED     for good
 *
 * RUNS ──► SUSPENDED   nothing is to be done now
 * RUNS ──► DUE         has to ask, on a thread that may not
 * RUNS ◄──► WOKEN      woken
 * SUSPENDED ──► DUE    woken by a signal
 * SUSPENDED ──► RUNS   cancelled, or its alarm rings
 * DUE ──► RUNS         the first in line; or cancelled, or its alarm rings
 * DUE ──► SUSPENDED    no thread can be had: a retry wakes the request soon
 * RUNS, WOKEN ──► ENDED
 * </pre>
 *
 * Invariants: the thread that has changed the state to RUNS owns the request, with all
 * fields that are not volatile, until that thread changes the state again. Each event
 * (the signal that the request waits for, the end of a pause, the cancellation of the
 * request) becomes visible first, and wakes the request then. The owner looks for all of
 * these events before it leaves. So a request may be woken for nothing, and a task may be
 * left over in a line, but no event is missed. While no thread owns the request, one
 * alarm is set, by the last owner: for the end of the pause, or of the time that the
 * request may stand in line. The request ends once.
 * <p>
 * Only threads that come by a line ask the store. A step that needs no question to the
 * store, such as the end of the time or a cancellation, is done by the timer's thread or
 * by the thread that cancels, so that the step does not depend on a node that stalls. A
 * request that has to ask although its time is over, such as for the first time, stands
 * in line for a while longer.
 */
final class AsyncDriver implements Runnable, Wait.Driver {

	private enum State {

		SUSPENDED, DUE, RUNS, WOKEN, ENDED

	}

	/**
	 * The party whose request is driven. Called by the owner of the request, which must
	 * not be blocked, but for {@link #checkSupport}.
	 */
	interface Client {

		/**
		 * Takes notice that the request will ask for the first time, on this thread.
		 */
		void checkSupport();

		/**
		 * Takes notice that the request has ended. Called once.
		 * @param failure why the request has failed, else {@code null}
		 */
		void ended(@Nullable Throwable failure);

	}

	private static final AtomicReferenceFieldUpdater<AsyncDriver, State> STATE = AtomicReferenceFieldUpdater
		.newUpdater(AsyncDriver.class, State.class, "state");

	/**
	 * The shortest time limit of a request in line, in nanoseconds.
	 */
	private static final long LEAST_LINE_TIME = TimeUnit.SECONDS.toNanos(5);

	/**
	 * The time, in nanoseconds, by which the limit grows with each request that stands
	 * before, so that a store that answers serves as many as there are.
	 */
	private static final long LINE_TIME_FOR_EACH = TimeUnit.MILLISECONDS.toNanos(10);

	private static final long MOST_LINE_TIME = TimeUnit.SECONDS.toNanos(30);

	/**
	 * The pause, in nanoseconds, before another attempt to get a thread.
	 */
	private static final long RETRY = TimeUnit.MILLISECONDS.toNanos(100);

	private final LockBackend backend;

	private final NodeTasks tasks;

	private final EngineTime time;

	private final Wait wait;

	private final Client client;

	private volatile State state = State.DUE;

	private volatile boolean cancelled;

	private @Nullable Acquisition acquisition;

	private boolean attempted;

	/**
	 * What the acquisition needs.
	 */
	private Next next = Need.ASK;

	/**
	 * The moment at which the pause is over.
	 */
	private long until;

	/**
	 * The node in whose line the request stands, or will stand.
	 */
	private @Nullable Object node;

	/**
	 * {@code true} if the request has stood in line since its last step.
	 */
	private boolean enqueued;

	/**
	 * The moment until which the request may stand in line, if its time is over.
	 */
	private long lineEnd;

	/**
	 * Cancels the alarm that is set.
	 */
	private @Nullable Runnable alarm;

	/**
	 * Creates a driver that has not begun yet.
	 * @param wait the wait of the request to be driven
	 */
	AsyncDriver(LockBackend backend, NodeTasks tasks, Wait wait, Client client) {
		this.backend = backend;
		this.tasks = tasks;
		this.time = wait.time;
		this.wait = wait;
		this.client = client;
		wait.setDriver(this);
	}

	/**
	 * Begins, on the calling thread as far as the store need not be asked. To be called
	 * once.
	 * @param acquisition the request
	 */
	void start(Acquisition acquisition) {
		this.acquisition = acquisition;
		advanceHere();
	}

	/**
	 * Gives the request up, on the calling thread, if the request has not ended.
	 */
	void cancel() {
		this.cancelled = true;
		advanceHere();
	}

	@Override
	public void wake() {
		if (tryWake(State.DUE)) {
			enqueue();
		}
	}

	/**
	 * Advances at once, on the calling thread, as far as the store need not be asked.
	 */
	private void advanceHere() {
		if (tryWake(State.RUNS)) {
			advance(false);
		}
	}

	/**
	 * Wakes the request.
	 * @param next the state after one in which no thread owns the request
	 * @return whether the calling thread has changed to that state
	 */
	private boolean tryWake(State next) {
		for (State now = this.state; now == State.SUSPENDED || now == State.RUNS
				|| (now == State.DUE && next == State.RUNS); now = this.state) {
			if (STATE.compareAndSet(this, now, (now == State.RUNS) ? State.WOKEN : next)) {
				return now != State.RUNS;
			}
		}
		return false;
	}

	/**
	 * Waits for a thread that may ask. Throws nothing: the calling thread does not own
	 * the request, and may be inside a step of a queue.
	 */
	private void enqueue() {
		Object node = Objects.requireNonNull(this.node, "node");
		try {
			if (this.attempted || this.next instanceof Await) {
				this.tasks.resume(node, this);
			}
			else {
				this.tasks.run(node, this);
			}
		}
		catch (Throwable noThread) {
			// Another thread may have come to take care of the request all the same.
			if (STATE.compareAndSet(this, State.DUE, State.SUSPENDED)) {
				retry();
			}
		}
	}

	private void retry() {
		try {
			this.time.schedule(this::wake, RETRY);
		}
		catch (Throwable noThread) {
			// The request has an alarm of its own.
		}
	}

	/**
	 * Runs when the request is the first in line, perhaps in vain.
	 */
	@Override
	public void run() {
		if (STATE.compareAndSet(this, State.DUE, State.RUNS)) {
			advance(true);
		}
	}

	/**
	 * Advances the request, whose owner is the calling thread.
	 * @param mayAsk whether this thread may ask the store
	 */
	private void advance(boolean mayAsk) {
		boolean ended = true;
		Throwable failure = null;
		try {
			ended = !drive(mayAsk);
		}
		catch (Throwable ex) {
			failure = ex;
		}
		if (ended) {
			end(failure);
		}
	}

	/**
	 * Advances for as long as there is anything to be done.
	 * @return {@code false} if the request has ended; otherwise another thread may own
	 * the request already
	 */
	private boolean drive(boolean mayAsk) throws InterruptedException {
		cancelAlarm();
		boolean mayAskHere = mayAsk;
		while (true) {
			if (this.cancelled) {
				throw new CancellationException("The request was cancelled");
			}
			boolean signalled = this.next instanceof Await pause && pause.signal().tryAcquire();
			if (this.next instanceof Await && !signalled && isAhead(this.until)) {
				if (trySuspend()) {
					return true;
				}
				continue;
			}
			step(acquisition().advance(signalled));
			if (this.next == Need.ASK && mayAskHere) {
				mayAskHere = ask();
			}
			else if (this.next == Need.ASK && tryEnqueue()) {
				return true;
			}
			if (this.next == Need.DONE) {
				return false;
			}
		}
	}

	/**
	 * Asks the store for as long as the request needs that for the same key.
	 * @return whether this thread may ask again: the next key may be of another node
	 */
	private boolean ask() throws InterruptedException {
		if (isOverdue()) {
			throw timeout();
		}
		if (!this.attempted) {
			this.attempted = true;
			this.client.checkSupport();
		}
		this.enqueued = false;
		String key = acquisition().key();
		while (this.next == Need.ASK && !this.cancelled && key.equals(acquisition().key())) {
			step(acquisition().ask());
		}
		return key.equals(acquisition().key());
	}

	private void step(Next next) {
		this.next = next;
		if (next instanceof Await pause) {
			this.enqueued = false;
			this.until = this.time.nanoTime() + pause.nanos();
		}
	}

	private boolean isOverdue() {
		return this.wait.left() <= 0 && this.enqueued && !isAhead(this.lineEnd);
	}

	private boolean isAhead(long moment) {
		return moment - this.time.nanoTime() > 0;
	}

	private boolean trySuspend() {
		this.node = node();
		return tryLeave(State.SUSPENDED, this.until - this.time.nanoTime());
	}

	private boolean tryEnqueue() {
		Object node = node();
		this.node = node;
		if (!this.enqueued) {
			this.enqueued = true;
			long lineTime = LEAST_LINE_TIME + this.tasks.waiting(node) * LINE_TIME_FOR_EACH;
			this.lineEnd = this.time.nanoTime() + Math.min(lineTime, MOST_LINE_TIME);
		}
		if (isOverdue()) {
			throw timeout();
		}
		long left = this.wait.left();
		boolean due = tryLeave(State.DUE, (left > 0) ? left : this.lineEnd - this.time.nanoTime());
		if (due) {
			enqueue();
		}
		return due;
	}

	/**
	 * Leaves the request to others, unless the request was woken since this thread began
	 * to look.
	 * @param delay when the alarm is to ring, in nanoseconds from now
	 * @return whether this thread has left the request
	 */
	private boolean tryLeave(State next, long delay) {
		this.alarm = this.time.schedule(this::advanceHere, delay);
		boolean changed = STATE.compareAndSet(this, State.RUNS, next);
		if (!changed) {
			this.state = State.RUNS;
			cancelAlarm();
		}
		return changed;
	}

	private void cancelAlarm() {
		if (this.alarm != null) {
			this.alarm.run();
			this.alarm = null;
		}
	}

	private void end(@Nullable Throwable failure) {
		cancelAlarm();
		this.state = State.ENDED;
		Throwable why = failure;
		try {
			acquisition().end();
		}
		catch (Throwable ex) {
			why = (failure != null) ? failure : ex;
		}
		this.client.ended(why);
	}

	/**
	 * Returns the node of the store that the request asks next.
	 */
	private Object node() {
		return NodeTasks.node(this.backend, acquisition().key());
	}

	/**
	 * Returns the failure of a request whose time is over, and which has stood in line
	 * for longer than allowed.
	 */
	private LockBackendException timeout() {
		return Failures.notAttempted(acquisition().key(), "the store has not answered in "
				+ Failures.text(this.wait.waited()) + " the requests before it, which are as many as may ask at a time",
				null);
	}

	private Acquisition acquisition() {
		return Objects.requireNonNull(this.acquisition, "acquisition");
	}

}
