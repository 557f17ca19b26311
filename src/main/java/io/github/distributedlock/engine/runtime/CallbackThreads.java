package io.github.distributedlock.engine.runtime;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/**
 * Threads for code of the application, which may block: few while none of it does, else
 * as many as it takes. So a burst of ten thousand futures needs no more threads than one,
 * and yet none has to wait for another.
 * <p>
 * A thread is blocked that is inside the same task at two looks, one after the other,
 * {@value #PAUSE_MILLIS} ms apart. One that a busy machine lets wait within a task looks
 * the same. So there are more threads only if the queue stands, too: of what was queued
 * at the first look, some is so at the second. And while it does not stand, there is one
 * less at each look.
 * <p>
 * Invariants: a look is scheduled while tasks are queued, or there may be more threads
 * than a few. Of these, a few are not blocked, and half as many as are blocked: so ten
 * times as many block within a second. There are not more than there are tasks. When none
 * is queued, those that have nothing to do may end. Safe for use by many threads.
 */
final class CallbackThreads implements Executor {

	/**
	 * How many there may be while no task blocks.
	 */
	static final int FEW = 4;

	private static final long PAUSE_MILLIS = 40;

	private static final Look NONE = new Look(Set.of(), 0, 0);

	private final ThreadPoolExecutor threads;

	private final ScheduledExecutorService timer;

	private final AtomicBoolean watched = new AtomicBoolean();

	private final Set<Task> inside = ConcurrentHashMap.newKeySet();

	private final LongAdder begun = new LongAdder();

	/**
	 * Creates it.
	 * @param threads a pool of {@link #FEW} threads, of which all may end, with a queue
	 * in order of arrival
	 * @param timer schedules the looks
	 */
	CallbackThreads(ThreadPoolExecutor threads, ScheduledExecutorService timer) {
		this.threads = threads;
		this.timer = timer;
	}

	@Override
	public void execute(Runnable code) {
		this.threads.execute(new Task(code));
		watch(NONE);
	}

	private void watch(Look last) {
		if ((isQueued() || mayBeMany()) && this.watched.compareAndSet(false, true)) {
			Undo.ifFails(() -> this.timer.schedule(() -> look(last), PAUSE_MILLIS, TimeUnit.MILLISECONDS),
					() -> this.watched.set(false));
		}
	}

	private void look(Look last) {
		Look seen = NONE;
		try {
			Look now = new Look(Set.copyOf(this.inside), this.begun.sum(), this.threads.getQueue().size());
			change(last, now);
			seen = now;
		}
		finally {
			this.watched.set(false);
			watch(seen);
		}
	}

	private void change(Look last, Look now) {
		int blocked = (int) last.inside().stream().filter(now.inside()::contains).count();
		int threads = this.threads.getPoolSize();
		if (now.queued() > 0 && now.begun() - last.begun() < last.queued()) {
			int wanted = blocked + Math.max(FEW, blocked / 2);
			letThereBe(Math.max(threads, Math.min(wanted, threads + now.queued())));
		}
		else {
			this.threads.setCorePoolSize(FEW);
			if (threads > FEW + blocked) {
				this.threads.setMaximumPoolSize(threads - 1);
			}
		}
	}

	/**
	 * Lets there be so many threads; those that are needed begin now.
	 */
	private void letThereBe(int most) {
		this.threads.setMaximumPoolSize(Math.max(most, this.threads.getMaximumPoolSize()));
		this.threads.setCorePoolSize(Math.max(FEW, most));
		this.threads.prestartAllCoreThreads(); // Those, too, that could not begin before.
	}

	private boolean mayBeMany() {
		return this.threads.getPoolSize() > FEW;
	}

	private boolean isQueued() {
		return !this.threads.getQueue().isEmpty();
	}

	/**
	 * Ends the threads, after all tasks, none of which waits for another any more.
	 */
	void shutdown() {
		try {
			letThereBe(this.threads.getPoolSize() + this.threads.getQueue().size());
		}
		catch (OutOfMemoryError noThread) {
			// They wait for others.
		}
		this.threads.shutdown();
	}

	/**
	 * What was seen.
	 *
	 * @param inside the tasks that had begun and not ended
	 * @param begun how many had begun until then
	 * @param queued how many were yet to begin
	 */
	private record Look(Set<Task> inside, long begun, int queued) {
	}

	/**
	 * The same code may be several.
	 */
	private final class Task implements Runnable {

		private final Runnable code;

		private Task(Runnable code) {
			this.code = code;
		}

		@Override
		public void run() {
			CallbackThreads.this.begun.increment();
			CallbackThreads.this.inside.add(this);
			try {
				this.code.run();
			}
			finally {
				CallbackThreads.this.inside.remove(this);
			}
		}

	}

}
