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
import io.github.distributedlock.engine.Wait.Acquisition.Await;
import io.github.distributedlock.engine.Wait.Acquisition.Need;
import io.github.distributedlock.engine.Wait.Acquisition.Next;
import org.jspecify.annotations.Nullable;

/**
 * How long one request may wait: one deadline for the local queue, the store and every
 * retry. Confined to one thread at a time, but for its start, which never changes.
 */
final class Wait {

	private static final long SHORTEST_RETRY = TimeUnit.MILLISECONDS.toNanos(25);

	private static final long LONGEST_RETRY = TimeUnit.MILLISECONDS.toNanos(500);

	final EngineTime time;

	private final long start;

	private final Duration limit;

	/**
	 * How much longer the wait lasts, in nanoseconds, since an owner was asked to give
	 * its key back.
	 */
	private long more;

	private final boolean interruptible;

	private volatile @Nullable Driver driver;

	private boolean interrupted;

	private boolean attempted;

	private boolean busy;

	/**
	 * The pause after the next command that fails, in nanoseconds.
	 */
	private long retry = SHORTEST_RETRY;

	private @Nullable Holder holder;

	/**
	 * The owner token of the last owner that was known to hold any key of the request,
	 * even when that key has been acquired; {@code null} if there was none.
	 */
	private @Nullable String waitedFor;

	/**
	 * The observation that hears of the end of the wait; {@code null} if nobody observes
	 * the wait.
	 */
	private @Nullable Observed observed;

	Wait(EngineTime time, Duration limit, boolean interruptible) {
		this.time = time;
		this.start = time.nanoTime();
		this.limit = limit;
		this.interruptible = interruptible;
	}

	/**
	 * Returns whether the request may wait at all, or only make one attempt.
	 */
	boolean isAllowed() {
		return this.limit.toNanos() > 0;
	}

	boolean isOver() {
		return left() <= 0;
	}

	/**
	 * Returns whether another command may start. The first command may, however late, so
	 * that no answer is given about a lock that was not asked for.
	 */
	boolean mayAttempt() {
		return mayBeLate() || !isOver();
	}

	/**
	 * Returns whether the next command may start when the time is over.
	 */
	boolean mayBeLate() {
		return !isAllowed() || !this.attempted;
	}

	/**
	 * Takes note of an attempt. Must be called before a command is sent.
	 */
	void beginAttempt() {
		this.attempted = true;
	}

	/**
	 * Takes an acquisition to its end, on the calling thread, which is parked while there
	 * is nothing to be done.
	 * @throws InterruptedException if an interrupt ends the wait
	 */
	void run(Acquisition acquisition) throws InterruptedException {
		try {
			Next next = acquisition.advance(false);
			while (next != Need.DONE) {
				next = (next instanceof Await pause) ? acquisition.advance(await(pause.signal(), pause.nanos()))
						: acquisition.ask();
			}
		}
		finally {
			acquisition.end();
		}
	}

	/**
	 * Waits for a signal and consumes the signal.
	 * @param nanos how long to wait at most
	 * @return whether there was a signal in time
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
	 * @throws InterruptedException if the interrupt ends the wait
	 */
	void interrupted(String when) throws InterruptedException {
		if (this.interruptible) {
			throw new InterruptedException("interrupted " + when);
		}
		this.interrupted = true;
	}

	/**
	 * Returns whether an interrupt was noted that has not ended the wait.
	 */
	boolean wasInterrupted() {
		return this.interrupted;
	}

	/**
	 * Returns whether the last answer of the store was that a key is busy.
	 */
	boolean isBusy() {
		return this.busy;
	}

	/**
	 * Returns how long the wait may yet last, in nanoseconds; not more than 0 if the wait
	 * is over.
	 */
	long left() {
		return this.limit.toNanos() + this.more - (this.time.nanoTime() - this.start);
	}

	/**
	 * Takes note that an owner was asked to give its key back. If the request may not
	 * wait at all, the request waits for the given time from now on. The time is added
	 * once, for all keys of the request.
	 */
	void recalls(long nanos) {
		if (!isAllowed() && this.more == 0) {
			this.more = this.time.nanoTime() - this.start + nanos;
		}
	}

	/**
	 * Returns how long to pause before a command that has failed is sent again, in
	 * nanoseconds.
	 */
	long untilRetry() {
		long pause = this.retry;
		this.retry = Math.min(2 * pause, LONGEST_RETRY);
		return Math.min(pause, left());
	}

	Duration limit() {
		return this.limit;
	}

	/**
	 * Sets the driver that sees to the request, for which no thread waits.
	 */
	void setDriver(Driver driver) {
		this.driver = driver;
	}

	/**
	 * Returns whether no thread waits.
	 */
	boolean isAsync() {
		return this.driver != null;
	}

	/**
	 * Wakes the driver, since the signal that the request waits for may be there. Called
	 * inside a step of a queue, by any thread: this method neither enters a queue nor
	 * waits, and throws nothing. A thread that waits for the signal notices the signal
	 * without this call.
	 */
	void wake() {
		Driver driver = this.driver;
		if (driver != null) {
			driver.wake();
		}
	}

	/**
	 * Returns for how long the request has waited, for all its keys. Called by any
	 * thread.
	 */
	Duration waited() {
		return Duration.ofNanos(this.time.nanoTime() - this.start);
	}

	/**
	 * Returns whether the lock was reserved for a waiter, and not held, according to the
	 * last answer.
	 */
	boolean isReserved() {
		return this.holder != null && this.holder.isReservation();
	}

	/**
	 * Returns the owner token of the holder, when last heard of.
	 * @return the token, or {@code null} if the key is not held, or its owner is not
	 * known
	 */
	@Nullable String holder() {
		return (this.holder != null) ? this.holder.owner() : null;
	}

	/**
	 * Takes note that the key is held or queued for in this JVM.
	 */
	void busyLocally(@Nullable String owner) {
		if (owner != null) {
			heldBy(Holder.owner(owner));
		}
	}

	/**
	 * Takes note that the store has answered.
	 */
	void answered(AcquireResult attempt) {
		this.retry = SHORTEST_RETRY;
		this.busy = !attempt.acquired();
		heldBy(attempt.holder());
	}

	/**
	 * Tells an observer that the request is about to ask. An exception of the observer
	 * harms no request: a lock that was acquired has no handle yet.
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
	 * Tells the observer that the wait has ended with an answer.
	 */
	void end(boolean acquired) {
		Observed observed = this.observed;
		if (observed != null) {
			Failures.run(acquired ? () -> observed.acquired(this.waitedFor) : () -> observed.busy(holder()),
					Wait::observer);
		}
	}

	/**
	 * Tells the observer that the request has failed.
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
	 * Waits on behalf of a request that no thread waits for.
	 */
	interface Driver {

		/**
		 * Looks soon whether the signal is there that the request waits for.
		 */
		void wake();

	}

	/**
	 * A request, or its part for one key, on its way. An acquisition says what it needs
	 * next: to ask the store, or to wait for <i>a signal or a time</i>. Its driver sees
	 * to that: {@link Wait#run} lets the requesting thread ask and wait, and a request
	 * that no thread waits for asks on a thread in the line of the key's node.
	 * <p>
	 * Confined to one thread at a time. The driver calls {@link #end} once, after all
	 * else, even if the request is given up during a wait.
	 */
	interface Acquisition {

		/**
		 * What an acquisition needs: a {@link Need}, or to {@link Await}.
		 */
		sealed interface Next {

		}

		/**
		 * To ask the store about the key; or nothing more, since the acquisition has
		 * ended, with the keys that the request asked for or without.
		 */
		enum Need implements Next {

			ASK, DONE

		}

		/**
		 * To await a signal.
		 *
		 * @param nanos for how long to await the signal, from 0
		 */
		record Await(Semaphore signal, long nanos) implements Next {
		}

		/**
		 * Begins, goes on after a wait, or looks again whether to ask. Does not ask the
		 * store.
		 * @param signalled {@code true} if the signal came that the acquisition waited
		 * for, which was consumed; {@code false} if the time is over, or there was no
		 * wait
		 */
		Next advance(boolean signalled) throws InterruptedException;

		/**
		 * Asks the store. To be called when the acquisition has said so just now.
		 */
		Next ask() throws InterruptedException;

		/**
		 * Returns the key that is being acquired, or will be next.
		 */
		String key();

		/**
		 * Returns what the acquisition has acquired, once ended: a hold for each key,
		 * guarded, or {@code null} if a key was busy for as long as the request may wait.
		 */
		@Nullable List<Hold> holds();

		/**
		 * Undoes an acquisition that has not come to a good end, and leaves the queues.
		 * Does not wait.
		 */
		void end();

	}

}
