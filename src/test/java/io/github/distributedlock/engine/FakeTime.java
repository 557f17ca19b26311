package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import io.github.distributedlock.fixtures.Patience;

/**
 * Time that a test moves. What is due then runs on the test's thread, in order; so do the
 * workers' tasks, at once, unless a test holds them back. Others may wait meanwhile.
 */
public final class FakeTime extends StillTime {

	/**
	 * How long one who is to act may stand still on a busy machine.
	 */
	private static final Duration PATIENCE = Patience.INTERNAL;

	private static final class Wait {

		private final Semaphore signal;

		private volatile boolean isOver;

		private Wait(Semaphore signal) {
			this.signal = signal;
		}

		/**
		 * Nobody has woken the thread yet.
		 */
		boolean lasts(Thread thread) {
			return thread.getState() == Thread.State.WAITING && !thread.isInterrupted()
					&& this.signal.availablePermits() == 0 && !this.isOver;
		}

	}

	/**
	 * Threads that wait for a signal or have waited for one, with their last wait.
	 */
	private final Map<Thread, Wait> waits = new ConcurrentHashMap<>();

	/**
	 * How many waits have begun and how many have ended.
	 */
	private final AtomicInteger moves = new AtomicInteger();

	private final List<Runnable> heldBack = new ArrayList<>();

	private boolean holdBackRenewals;

	private final Set<String> lacking = ConcurrentHashMap.newKeySet();

	private volatile CountDownLatch sleep = new CountDownLatch(0);

	private volatile long suspended;

	public FakeTime() {
		pass(Duration.ofSeconds(1));
	}

	@Override
	public long wallNanos() {
		return 1_700_000_000_000_000_000L + nanoTime() + this.suspended;
	}

	@Override
	public boolean await(Semaphore signal, long nanos) throws InterruptedException {
		if (signal.tryAcquire()) {
			return true;
		}
		AtomicBoolean timedOut = new AtomicBoolean();
		Runnable alarm = super.schedule(() -> {
			timedOut.set(true);
			signal.release();
		}, nanos);
		Wait wait = new Wait(signal);
		this.waits.put(Thread.currentThread(), wait);
		this.moves.incrementAndGet();
		try {
			signal.acquire();
			wait.isOver = true;
			oversleep();
		}
		finally {
			wait.isOver = true;
			this.moves.incrementAndGet();
			alarm.run();
		}
		return !timedOut.get();
	}

	/**
	 * A latch looks at the interrupt flag first, and then at the count. An interrupt that
	 * comes between the two, with the count, must end the sleep all the same.
	 */
	private void oversleep() throws InterruptedException {
		this.sleep.await();
		if (Thread.interrupted()) {
			throw new InterruptedException("interrupted while it overslept");
		}
	}

	@Override
	public Runnable schedule(Runnable task, long delayNanos) {
		thread("timer");
		return super.schedule(task, delayNanos);
	}

	@Override
	public void renewal(Runnable task) {
		thread("worker");
		if (this.holdBackRenewals) {
			this.heldBack.add(task);
		}
		else {
			task.run();
		}
	}

	@Override
	public void background(Runnable task) {
		thread("worker");
		task.run();
	}

	/**
	 * Runs the task when time is moved, if only by nothing: not inside the step that
	 * wakes the task.
	 */
	@Override
	public void request(Runnable task) {
		thread("worker");
		super.schedule(task, 0);
	}

	@Override
	public void action(Runnable task) {
		thread("callback");
		task.run();
	}

	@Override
	public void callback(Runnable task) {
		thread("callback");
		task.run();
	}

	private void thread(String kind) {
		if (this.lacking.remove(kind)) {
			throw new OutOfMemoryError("unable to create native thread (test)");
		}
	}

	/**
	 * The next task of a kind gets no thread.
	 * @param kind one of timer, worker and callback
	 */
	public void lackAThread(String kind) {
		this.lacking.add(kind);
	}

	/**
	 * From now on who is woken does not wake up before {@link #letThemWakeUp()}.
	 */
	public void letThemOversleep() {
		this.sleep = new CountDownLatch(1);
	}

	public void letThemWakeUp() {
		this.sleep.countDown();
	}

	/**
	 * How many threads wait for a signal.
	 */
	public int waiting() {
		return (int) this.waits.entrySet().stream().filter((wait) -> wait.getValue().lasts(wait.getKey())).count();
	}

	public void advance(Duration duration) {
		letTheWokenAct();
		long end = nanoTime() + duration.toNanos();
		for (Ring due = next(end); due != null; due = next(end)) {
			passUntil(due.at());
			due.action().run();
			letTheWokenAct();
		}
		passUntil(end);
	}

	private void passUntil(long moment) {
		pass(Duration.ofNanos(Math.max(0, moment - nanoTime())));
	}

	/**
	 * Time goes on only when those who were woken wait again, or have ended: else they
	 * would act at another time than they were woken for.
	 */
	private void letTheWokenAct() {
		long end = System.nanoTime() + PATIENCE.toNanos();
		while (!isQuiet()) {
			if (System.nanoTime() - end > 0) {
				throw new IllegalStateException("Still acting: " + this.waits.keySet());
			}
			Thread.yield();
		}
	}

	/**
	 * Looks twice. A thread may be woken by another one after the first look, before that
	 * other one comes to rest: the second look sees the woken thread act, or the number
	 * of moves has changed.
	 */
	private boolean isQuiet() {
		int before = this.moves.get();
		return allRest() && allRest() && this.moves.get() == before;
	}

	private boolean allRest() {
		this.waits.keySet().removeIf((thread) -> !thread.isAlive());
		return this.waits.entrySet().stream().allMatch((wait) -> rests(wait.getKey(), wait.getValue()));
	}

	/**
	 * Returns whether a thread waits for a signal, or for what only the test does, as one
	 * that oversleeps. A thread that waits for a mutex does not rest: the owner gives the
	 * mutex back without more ado.
	 */
	private boolean rests(Thread thread, Wait wait) {
		if (thread == Thread.currentThread() || wait.lasts(thread)) {
			return true;
		}
		boolean oversleeps = this.sleep.getCount() > 0 && wait.signal.availablePermits() > 0;
		Object blocker = LockSupport.getBlocker(thread);
		return oversleeps || (thread.getState() == Thread.State.WAITING && wait.isOver && blocker != null
				&& blocker.getClass().getEnclosingClass() != ReentrantLock.class);
	}

	/**
	 * Lets wall time pass while the monotonic clock stands still.
	 */
	public void suspend(Duration duration) {
		this.suspended += duration.toNanos();
	}

	public void holdBackRenewals() {
		this.holdBackRenewals = true;
	}

	/**
	 * Runs the renewals that were held back.
	 */
	public void runHeldBack() {
		this.holdBackRenewals = false;
		List<Runnable> renewals = List.copyOf(this.heldBack);
		this.heldBack.clear();
		renewals.forEach(Runnable::run);
	}

	public List<Runnable> heldBack() {
		return this.heldBack;
	}

}
