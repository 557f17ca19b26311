package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockRequest;
import io.github.distributedlock.WaitObserver;
import io.github.distributedlock.WaitObserver.Observed;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Holder;
import org.jspecify.annotations.Nullable;

/**
 * How long one request may wait: one deadline for the local queue, the store and every
 * retry. Confined to one thread at a time, but for its start, which never changes.
 */
final class Wait {

	final EngineTime time;

	private final long start;

	private final Duration limit;

	/**
	 * How much longer it lasts, in nanoseconds, since an owner was asked to give its key
	 * back.
	 */
	private long more;

	private final boolean interruptible;

	private volatile @Nullable AsyncDriver driver;

	/**
	 * When it began by the eras of the {@link Lifecycle}, or the outermost call that it
	 * began inside of. Written before it is counted there, or by the thread that has
	 * begun it.
	 */
	volatile int era;

	private boolean interrupted;

	private boolean attempted;

	private boolean busy;

	/**
	 * The pauses between commands that fail; {@code null} after one that was answered.
	 */
	private Polls.@Nullable Backoff retries;

	private @Nullable Holder holder;

	/**
	 * The owner token of the last one that was known to hold any key of the request, also
	 * when that has been acquired; {@code null} if there was none.
	 */
	private @Nullable String waitedFor;

	/**
	 * What is told of its end; {@code null} if nobody observes it.
	 */
	private @Nullable Observed observed;

	Wait(EngineTime time, Duration limit, boolean interruptible) {
		this.time = time;
		this.start = time.nanoTime();
		this.limit = limit;
		this.interruptible = interruptible;
	}

	/**
	 * Whether the request may wait at all, or only make one attempt.
	 */
	boolean isAllowed() {
		return this.limit.toNanos() > 0;
	}

	boolean isOver() {
		return left() <= 0;
	}

	/**
	 * Whether another command may start. The first one may, however late it is, so that
	 * no answer is given about a lock that was not asked for.
	 */
	boolean mayAttempt() {
		return mayBeLate() || !isOver();
	}

	/**
	 * Whether the next command may start when the time is over.
	 */
	boolean mayBeLate() {
		return !isAllowed() || !this.attempted;
	}

	/**
	 * To be called before a command is sent.
	 */
	void beginAttempt() {
		this.attempted = true;
	}

	/**
	 * Takes an acquisition to its end, on the calling thread, which is parked while there
	 * is nothing to be done.
	 */
	void run(Acquisition acquisition) throws InterruptedException {
		try {
			long pause = acquisition.advance(false);
			while (pause != Acquisition.ENDED) {
				boolean signalled = pause != Acquisition.NEXT_KEY && await(acquisition.signal(), pause);
				pause = acquisition.advance(signalled);
			}
		}
		finally {
			acquisition.end();
		}
	}

	/**
	 * Waits for a signal, which this consumes, at most so long.
	 * @return whether there was one in time
	 */
	private boolean await(Semaphore signal, long nanos) throws InterruptedException {
		long end = this.time.nanoTime() + nanos;
		while (true) {
			try {
				return this.time.await(signal, end - this.time.nanoTime());
			}
			catch (InterruptedException ex) {
				interrupted("while it waited");
			}
		}
	}

	/**
	 * Takes note of an interrupt, which has cleared the thread's flag.
	 * @throws InterruptedException if it ends the wait
	 */
	void interrupted(String when) throws InterruptedException {
		if (this.interruptible) {
			throw new InterruptedException("interrupted " + when);
		}
		this.interrupted = true;
	}

	/**
	 * Whether an interrupt was noted that has not ended the wait.
	 */
	boolean wasInterrupted() {
		return this.interrupted;
	}

	/**
	 * Whether the last thing that the store said is that a key is busy.
	 */
	boolean isBusy() {
		return this.busy;
	}

	/**
	 * How long it may yet last, in nanoseconds; not more than 0 if it is over.
	 */
	long left() {
		return this.limit.toNanos() + this.more - (this.time.nanoTime() - this.start);
	}

	/**
	 * An owner was asked to give its key back: waits so long for that from now on, if the
	 * request may not wait at all. That is done once, for all its keys.
	 */
	void recalls(long nanos) {
		if (!isAllowed() && this.more == 0) {
			this.more = this.time.nanoTime() - this.start + nanos;
		}
	}

	/**
	 * How long to pause before a command that has failed is sent again, in nanoseconds.
	 */
	long untilRetry() {
		if (this.retries == null) {
			this.retries = new Polls.Backoff(TimeUnit.MILLISECONDS.toNanos(25), TimeUnit.MILLISECONDS.toNanos(500));
		}
		return Math.min(this.retries.next(), left());
	}

	Duration limit() {
		return this.limit;
	}

	/**
	 * No thread waits, but a driver sees to the request.
	 */
	void setDriver(AsyncDriver driver) {
		this.driver = driver;
	}

	/**
	 * Whether no thread waits.
	 */
	boolean isAsync() {
		return this.driver != null;
	}

	/**
	 * The signal that the request waits for may be there. Called inside a step of a
	 * queue, by any thread: it neither enters a queue nor waits, and throws nothing. A
	 * thread that waits for the signal notices by itself.
	 */
	void wake() {
		AsyncDriver driver = this.driver;
		if (driver != null) {
			driver.wake();
		}
	}

	/**
	 * For how long the request has waited, for all its keys. Called by any thread.
	 */
	Duration waited() {
		return Duration.ofNanos(this.time.nanoTime() - this.start);
	}

	/**
	 * Whether the lock was reserved for a waiter, and not held, when it was last heard
	 * of.
	 */
	boolean isReserved() {
		return this.holder != null && this.holder.isReservation();
	}

	/**
	 * The owner token of the holder, when last heard of.
	 * @return the token, or {@code null} if the key is not held, or its owner is not
	 * known
	 */
	@Nullable String holder() {
		return (this.holder != null) ? this.holder.owner() : null;
	}

	/**
	 * The key is held or queued for in this JVM.
	 */
	void busyLocally(@Nullable String owner) {
		if (owner != null) {
			heldBy(Holder.owner(owner));
		}
	}

	/**
	 * The store has answered.
	 */
	void answered(AcquireResult attempt) {
		this.retries = null;
		this.busy = !attempt.acquired();
		heldBy(attempt.holder());
	}

	/**
	 * The request is about to ask, as an observer may want to know. What that throws
	 * harms no request: what was acquired has no handle yet.
	 */
	void beginObservation(@Nullable WaitObserver observer, LockRequest request) {
		if (observer == null) {
			return;
		}
		try { // Without a lambda, which would be made for each request.
			this.observed = observer.begins(request);
		}
		catch (Throwable ex) {
			Failures.caught(ex, Wait::observer);
		}
	}

	boolean isObserved() {
		return this.observed != null;
	}

	/**
	 * It has ended with an answer.
	 */
	void end(boolean acquired) {
		Observed observed = this.observed;
		if (observed != null) {
			Failures.run(acquired ? () -> observed.acquired(this.waitedFor) : () -> observed.busy(holder()),
					Wait::observer);
		}
	}

	/**
	 * It has failed.
	 */
	void fail(Throwable failure) {
		Observed observed = this.observed;
		if (observed != null) {
			Failures.run(() -> observed.failed(failure), Wait::observer);
		}
	}

	private static String observer() {
		return "The observer of waits for locks";
	}

	private void heldBy(@Nullable Holder holder) {
		this.holder = holder;
		String owner = holder();
		if (owner != null) {
			this.waitedFor = owner;
		}
	}

	/**
	 * A request, or its part for one key, on its way: it advances until it has ended, or
	 * has to wait for <i>a signal or a time</i>. Its driver does the waiting:
	 * {@link Wait#run} parks the requesting thread, and a request that no thread waits
	 * for has itself called again.
	 * <p>
	 * Confined to one thread at a time. Its driver calls {@link #end} once, after all
	 * else, also if the request is given up while it waits.
	 */
	interface Acquisition {

		/**
		 * It has ended: with what it asked for, or without.
		 */
		long ENDED = -1;

		/**
		 * It has nothing to wait for, and continues with another key, perhaps on another
		 * node of the store.
		 */
		long NEXT_KEY = -2;

		/**
		 * Begins, or continues after a wait.
		 * @param signalled whether the signal came that it waited for, which was
		 * consumed, rather than that the time is over
		 * @return for how long to wait for the {@link #signal}, in nanoseconds from 0, or
		 * {@link #ENDED}, or {@link #NEXT_KEY}
		 */
		long advance(boolean signalled) throws InterruptedException;

		/**
		 * Whether it may ask the store if it advances now. If not, it does not, whatever
		 * comes before it advances.
		 * @param signalled whether the signal is there that it waits for
		 */
		boolean mayAttempt(boolean signalled);

		/**
		 * What it waits for.
		 */
		Semaphore signal();

		/**
		 * Which key it acquires, or will next.
		 */
		String key();

		/**
		 * What came of it, once it has ended: a hold for each key, guarded, or
		 * {@code null} if a key was busy for as long as the request may wait.
		 */
		@Nullable List<Hold> holds();

		/**
		 * Undoes what has not come to a good end, and leaves the queues. Does not wait.
		 */
		void end();

	}

}
