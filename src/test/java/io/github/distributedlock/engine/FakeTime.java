package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Time that stands still until a test moves it. What is due runs on the test's thread, in
 * order; so do the workers' tasks, at once, unless a test holds them back.
 */
final class FakeTime implements EngineTime, Workers {

	private record Task(long at, int number, Runnable action) {
	}

	private final PriorityQueue<Task> tasks = new PriorityQueue<>(
			Comparator.comparingLong(Task::at).thenComparingInt(Task::number));

	private final AtomicInteger waiting = new AtomicInteger();

	private final Set<Thread> woken = ConcurrentHashMap.newKeySet();

	private final List<Runnable> heldBack = new ArrayList<>();

	private boolean holdBackRenewals;

	private volatile CountDownLatch sleep = new CountDownLatch(0);

	private int number;

	private long nanos = 1_000_000_000L;

	private long suspended;

	@Override
	public synchronized long nanoTime() {
		return this.nanos;
	}

	@Override
	public synchronized long wallNanos() {
		return 1_700_000_000_000_000_000L + this.nanos + this.suspended;
	}

	@Override
	public boolean await(Semaphore signal, long nanos) throws InterruptedException {
		if (signal.tryAcquire()) {
			return true;
		}
		AtomicBoolean timedOut = new AtomicBoolean();
		Thread waiter = Thread.currentThread();
		Alarm alarm = schedule(() -> {
			timedOut.set(true);
			this.woken.add(waiter);
			signal.release();
		}, nanos);
		this.woken.remove(waiter);
		this.waiting.incrementAndGet();
		try {
			signal.acquire();
			this.sleep.await();
		}
		finally {
			this.waiting.decrementAndGet();
			alarm.cancel();
		}
		return !timedOut.get();
	}

	@Override
	public synchronized Alarm schedule(Runnable action, long delayNanos) {
		Task task = new Task(this.nanos + delayNanos, this.number++, action);
		this.tasks.add(task);
		return () -> {
			synchronized (this) {
				this.tasks.remove(task);
			}
		};
	}

	@Override
	public void renewal(Runnable task) {
		if (this.holdBackRenewals) {
			this.heldBack.add(task);
		}
		else {
			task.run();
		}
	}

	@Override
	public void background(Runnable task) {
		task.run();
	}

	@Override
	public void lossActions(Runnable task) {
		task.run();
	}

	@Override
	public void callback(Runnable task) {
		task.run();
	}

	/**
	 * From now on who is woken does not wake up before {@link #letThemWakeUp()}.
	 */
	void letThemOversleep() {
		this.sleep = new CountDownLatch(1);
	}

	void letThemWakeUp() {
		this.sleep.countDown();
	}

	/**
	 * How many threads wait for a signal.
	 */
	int waiting() {
		return this.waiting.get();
	}

	/**
	 * How many tasks are due some time.
	 */
	synchronized int scheduled() {
		return this.tasks.size();
	}

	void advance(Duration duration) {
		long end = nanoTime() + duration.toNanos();
		for (Task task = next(end); task != null; task = next(end)) {
			task.action().run();
			letTheWokenAct();
		}
		synchronized (this) {
			this.nanos = Math.max(this.nanos, end);
		}
	}

	/**
	 * Time goes on only when those whose time had come wait again, or have ended: else
	 * they would act at another time than they were woken for.
	 */
	private void letTheWokenAct() {
		long patience = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
		while (this.woken.stream().anyMatch(Thread::isAlive) && System.nanoTime() < patience) {
			Thread.yield();
		}
	}

	private synchronized Task next(long end) {
		Task task = this.tasks.peek();
		if (task == null || task.at() > end) {
			return null;
		}
		this.tasks.remove();
		this.nanos = Math.max(this.nanos, task.at());
		return task;
	}

	/**
	 * Lets time pass within a step, so that nothing that is due runs.
	 */
	synchronized void pass(Duration duration) {
		this.nanos += duration.toNanos();
	}

	/**
	 * Lets wall time pass while the monotonic clock stands still.
	 */
	synchronized void suspend(Duration duration) {
		this.suspended += duration.toNanos();
	}

	void holdBackRenewals() {
		this.holdBackRenewals = true;
	}

	/**
	 * Runs the renewals that were held back.
	 */
	void runHeldBack() {
		this.holdBackRenewals = false;
		List<Runnable> renewals = List.copyOf(this.heldBack);
		this.heldBack.clear();
		renewals.forEach(Runnable::run);
	}

	List<Runnable> heldBack() {
		return this.heldBack;
	}

}
