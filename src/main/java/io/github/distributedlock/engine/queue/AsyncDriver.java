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
 *        woken, or the time is over
 *   PARKED ──────────────────────► DUE ──► RUNS ──► ENDED
 *     ▲                             ▲       │ ▲
 *     │ not woken meanwhile         │       │ │ looks again
 *     └─────────────────────────────┼───────┤ │
 *                                   │       ▼ │ woken
 *                    the next key   └──── WOKEN
 * </pre>
 *
 * Invariants: it has one task exactly while it is due, runs or is woken, so that one
 * thread at a time sees to it. Whatever concerns it (a permit of the signal that it waits
 * for, the end of a pause, its withdrawal) is there to be seen first, and wakes it then;
 * before it parks it looks for all of them. So it may be woken for nothing, but never
 * misses anything. It ends once, and is woken in vain from then on.
 */
public final class AsyncDriver implements Runnable, Waker {

	private enum State {

		PARKED, DUE, RUNS, WOKEN, ENDED

	}

	/**
	 * Whose request it is. Called by the engine's threads, which are not to be blocked but
	 * by the store.
	 */
	public interface Client {

		/**
		 * Which node of the store it asks next.
		 */
		Object node();

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

	private EngineTime.@Nullable Alarm alarm;

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
		submit();
	}

	/**
	 * Gives the request up, if it has not ended.
	 */
	public void withdraw() {
		this.withdrawn = true;
		wake();
	}

	@Override
	public void wake() {
		for (State now = this.state; now == State.PARKED || now == State.RUNS; now = this.state) {
			if (now == State.RUNS && STATE.compareAndSet(this, State.RUNS, State.WOKEN)) {
				return;
			}
			if (now == State.PARKED && STATE.compareAndSet(this, State.PARKED, State.DUE)) {
				submit();
				return;
			}
		}
	}

	private void submit() {
		try {
			this.tasks.run(client().node(), this);
		}
		catch (OutOfMemoryError noThread) {
			this.state = State.PARKED;
			this.time.schedule(this::wake, RETRY);
		}
	}

	@Override
	public void run() {
		boolean ended = true;
		Throwable failure = null;
		try {
			ended = !goOn();
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
	 * @return {@code false} if the request has ended; else it may be with another thread
	 * already
	 */
	private boolean goOn() throws InterruptedException {
		Acquisition acquisition = acquisition();
		this.state = State.RUNS;
		cancelAlarm();
		requireNotWithdrawn();
		if (!this.begun) {
			this.begun = true;
			client().begins();
		}
		if (this.pause == Acquisition.NEXT_KEY) {
			pause(acquisition.goOn(false));
		}
		while (this.pause >= 0) {
			requireNotWithdrawn();
			if (acquisition.signal().tryAcquire()) {
				pause(acquisition.goOn(true));
			}
			else if (left() <= 0) {
				pause(acquisition.goOn(false));
			}
			else if (parks()) {
				return true;
			}
		}
		boolean goesOn = this.pause == Acquisition.NEXT_KEY;
		if (goesOn) {
			this.state = State.DUE;
			submit(); // Its node may be another one.
		}
		return goesOn;
	}

	private void requireNotWithdrawn() {
		if (this.withdrawn) {
			throw new CancellationException("The request was withdrawn");
		}
	}

	private void pause(long pause) {
		this.pause = pause;
		this.until = this.time.nanoTime() + pause;
	}

	private long left() {
		return this.until - this.time.nanoTime();
	}

	/**
	 * Parks, unless it was woken since it began to look.
	 */
	private boolean parks() {
		this.alarm = this.time.schedule(this::wake, left());
		boolean parks = STATE.compareAndSet(this, State.RUNS, State.PARKED);
		if (!parks) {
			cancelAlarm();
			this.state = State.RUNS;
		}
		return parks;
	}

	private void cancelAlarm() {
		if (this.alarm != null) {
			this.alarm.cancel();
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
