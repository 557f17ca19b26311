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
 * <pre>
 *        woken                     a thread may ask
 *   PARKED ──► DUE (in its node's line) ──► RUNS ──► ENDED
 *     ▲ │                             ▲      │ ▲ ▲
 *     │ │ a pause is over, withdrawn  │      │ │ │ looks again
 *     │ └───────────────┬─────────────┼──────┼─┘ │
 *     │                DUE            │      ▼   │ woken
 *     │ not woken meanwhile           │    WOKEN─┘
 *     └───────────────────────────────┼──────┘
 *                  has to ask         └──────┘
 * </pre>
 *
 * Invariants: whoever makes it run sees to it alone, until it is anything else again.
 * Whatever concerns it (a permit of the signal that it waits for, the end of a pause, its
 * withdrawal) is there to be seen first, and wakes it then; before it parks it looks for
 * all of them. So it may be woken, and an alarm or a place in a line be left over, for
 * nothing, but nothing is missed. It ends once.
 * <p>
 * It asks the store only in a line of that node. What it comes to without asking, as when
 * its time is over or it is withdrawn, does not wait in line: a node that stalls makes no
 * request late by more than one command.
 */
public final class AsyncDriver implements Runnable, Waker {

	private enum State {

		PARKED, DUE, RUNS, WOKEN, ENDED

	}

	/**
	 * Whose request it is. Called by threads that are not to be blocked, but for
	 * {@link #begins}.
	 */
	public interface Client {

		/**
		 * Which node of the store it asks next.
		 */
		Object node();

		/**
		 * For how long the first question may yet wait in line, in nanoseconds.
		 */
		long patience();

		/**
		 * The request has lost its patience.
		 */
		RuntimeException impatient();

		/**
		 * The request has got a thread for its first step, which may ask the store.
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

	private volatile EngineTime.@Nullable Alarm alarm;

	// What follows is confined to the thread that sees to the request.

	private @Nullable Acquisition acquisition;

	private @Nullable Client client;

	private boolean begun;

	/**
	 * What the acquisition has said last.
	 */
	private long pause = Acquisition.NEXT_KEY;

	/**
	 * When the pause is over.
	 */
	private long until;

	public AsyncDriver(NodeTasks tasks, EngineTime time) {
		this.tasks = tasks;
		this.time = time;
	}

	/**
	 * Begins. To be called once.
	 * @param acquisition the request, of which this is the waker
	 */
	public void start(Acquisition acquisition, Client client) {
		this.acquisition = acquisition;
		this.client = client;
		queueUp();
	}

	/**
	 * Gives the request up, if it has not ended.
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
					queueUp();
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
					run(false);
				}
				return;
			}
		}
	}

	/**
	 * Waits in line for a thread that may ask.
	 */
	private void queueUp() {
		try {
			this.tasks.run(client().node(), this, () -> setAlarm(client().patience()));
		}
		catch (OutOfMemoryError noThread) {
			this.state = State.PARKED;
			this.time.schedule(this::wake, RETRY);
		}
	}

	/**
	 * Its turn in the line has come, perhaps in vain.
	 */
	@Override
	public void run() {
		if (STATE.compareAndSet(this, State.DUE, State.RUNS)) {
			run(true);
		}
	}

	private void run(boolean mayAsk) {
		boolean ended = true;
		Throwable failure = null;
		try {
			ended = !goOn(mayAsk);
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
	 * @param mayAsk whether this thread may ask the store
	 * @return {@code false} if the request has ended; else it may be with another thread
	 * already
	 */
	private boolean goOn(boolean mayAsk) throws InterruptedException {
		Acquisition acquisition = acquisition();
		cancelAlarm();
		boolean asksHere = mayAsk;
		while (this.pause != Acquisition.ENDED) {
			if (this.withdrawn) {
				throw new CancellationException("The request was withdrawn");
			}
			boolean paused = this.pause != Acquisition.NEXT_KEY;
			boolean signalled = paused && acquisition.signal().availablePermits() > 0;
			if (paused && !signalled && left() > 0) {
				if (parks()) {
					return true;
				}
			}
			else if (!asksHere && acquisition.mayAsk(signalled)) {
				if (!mayAsk) {
					requirePatience();
				}
				if (changes(State.DUE)) {
					queueUp();
					return true;
				}
			}
			else {
				begin();
				pause(acquisition.goOn(signalled && acquisition.signal().tryAcquire()));
				asksHere &= this.pause != Acquisition.NEXT_KEY; // Its node may be another.
			}
		}
		return false;
	}

	private void begin() {
		if (!this.begun) {
			requirePatience();
			this.begun = true;
			client().begins();
		}
	}

	private void requirePatience() {
		if (client().patience() <= 0) {
			throw client().impatient();
		}
	}

	private void pause(long pause) {
		this.pause = pause;
		this.until = this.time.nanoTime() + pause;
	}

	private long left() {
		return this.until - this.time.nanoTime();
	}

	private boolean parks() {
		setAlarm(left());
		boolean parks = changes(State.PARKED);
		if (!parks) {
			cancelAlarm();
		}
		return parks;
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

	private void setAlarm(long delay) {
		cancelAlarm();
		this.alarm = this.time.schedule(this::look, Math.max(0, delay));
	}

	private void cancelAlarm() {
		EngineTime.Alarm alarm = this.alarm;
		if (alarm != null) {
			alarm.cancel();
			this.alarm = null;
		}
	}

	private void end(@Nullable Throwable failure) {
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
