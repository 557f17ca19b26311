package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;

import io.github.distributedlock.engine.EngineTime.Workers;

/**
 * A clock for Lincheck, which stands still until an operation moves the hands. Alarms
 * ring, and the workers' tasks run, when and where an operation says so. Safe for any
 * thread.
 */
public class StillTime implements EngineTime, Workers {

	/**
	 * An action, and the time when the action is due.
	 */
	record Ring(long at, Runnable action) {
	}

	private final List<Ring> alarms = new ArrayList<>();

	private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

	/**
	 * One alarm at a time, as by a timer's only thread.
	 */
	private final Object timer = new Object();

	private volatile long now;

	@Override
	public final long nanoTime() {
		return this.now;
	}

	/**
	 * Lets time go on all the same. No alarm rings without an operation.
	 */
	public final synchronized void pass(Duration duration) {
		this.now += duration.toNanos();
	}

	@Override
	public long wallNanos() {
		return 0;
	}

	/**
	 * Does not wait.
	 */
	@Override
	public boolean await(Semaphore signal, long nanos) throws InterruptedException {
		return signal.tryAcquire();
	}

	@Override
	public synchronized Runnable schedule(Runnable task, long delayNanos) {
		Ring ring = new Ring(this.now + delayNanos, task);
		this.alarms.add(ring);
		return () -> cancel(ring);
	}

	private synchronized void cancel(Ring ring) {
		this.alarms.remove(ring);
	}

	@Override
	public void prepareRenewals() {
	}

	@Override
	public void renewal(Runnable task) {
		this.tasks.add(task);
	}

	@Override
	public void background(Runnable task) {
		this.tasks.add(task);
	}

	@Override
	public void request(Runnable task) {
		this.tasks.add(task);
	}

	@Override
	public void listener(Runnable task) {
		task.run();
	}

	@Override
	public void interrupt(Runnable task) {
		task.run();
	}

	@Override
	public void action(Runnable task) {
		task.run();
	}

	@Override
	public void callback(Runnable task) {
		task.run();
	}

	/**
	 * Lets the first alarm ring, if there is one: now, however early that is.
	 */
	public void ring() {
		synchronized (this.timer) {
			Ring first = next(Long.MAX_VALUE);
			if (first != null) {
				first.action().run();
			}
		}
	}

	/**
	 * Takes the first alarm, if due by then.
	 */
	final synchronized Ring next(long end) {
		Ring first = first();
		if (first == null || first.at() > end) {
			return null;
		}
		this.alarms.remove(first);
		return first;
	}

	private Ring first() {
		Ring first = null;
		for (Ring ring : this.alarms) {
			if (first == null || ring.at() < first.at()) {
				first = ring;
			}
		}
		return first;
	}

	/**
	 * Runs the workers' first task, if there is one.
	 */
	public void work() {
		Runnable task = this.tasks.poll();
		if (task != null) {
			task.run();
		}
	}

	/**
	 * How many are set.
	 */
	public final synchronized int alarms() {
		return this.alarms.size();
	}

	public int tasks() {
		return this.tasks.size();
	}

	/**
	 * Returns the time of the first alarm.
	 */
	public long firstAlarm() {
		Ring first = first();
		return (first != null) ? first.at() : Long.MAX_VALUE;
	}

}
