package io.github.distributedlock.engine.runtime;

import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Threads for code of the application, which may block: few while none of it does, else
 * as many as it takes. So a burst of ten thousand futures needs no more threads than one,
 * and yet none has to wait for another.
 * <p>
 * Invariants: a look is scheduled while tasks are queued, or there may be more threads
 * than a few. If some were at {@value #LOOKS} looks, one after the other, there are twice
 * as many threads, but not more than there are tasks; when none is queued, those that
 * have nothing to do may end. Safe for use by many threads.
 */
final class CallbackThreads implements Executor {

	/**
	 * How many there may be while no task blocks.
	 */
	static final int FEW = 4;

	/**
	 * At how many looks tasks are queued before there are more threads: one look may be
	 * early, just after they came.
	 */
	private static final int LOOKS = 2;

	private static final long PAUSE_MILLIS = 20;

	private final ThreadPoolExecutor threads;

	private final ScheduledExecutorService timer;

	private final AtomicBoolean watched = new AtomicBoolean();

	/**
	 * Creates it.
	 * @param threads a pool of {@link #FEW} threads, of which all may end, with a queue
	 * @param timer schedules the looks
	 */
	CallbackThreads(ThreadPoolExecutor threads, ScheduledExecutorService timer) {
		this.threads = threads;
		this.timer = timer;
	}

	@Override
	public void execute(Runnable task) {
		this.threads.execute(task);
		watch();
	}

	private void watch() {
		if ((isQueued() || mayBeMany()) && this.watched.compareAndSet(false, true)) {
			Undo.ifFails(() -> lookLater(0), () -> this.watched.set(false));
		}
	}

	private void lookLater(int standing) {
		this.timer.schedule(() -> look(standing + 1), PAUSE_MILLIS, TimeUnit.MILLISECONDS);
	}

	/**
	 * Looks.
	 * @param number which look it is of those that have seen tasks in the queue
	 */
	private void look(int number) {
		if (isQueued() && number < LOOKS) {
			Undo.ifFails(() -> lookLater(number), () -> this.watched.set(false));
			return;
		}
		try {
			if (isQueued()) {
				int queued = this.threads.getQueue().size();
				int threads = this.threads.getPoolSize();
				letThereBe(Math.max(FEW, threads + Math.min(threads, queued)));
			}
			else {
				this.threads.setCorePoolSize(FEW);
			}
		}
		finally {
			this.watched.set(false);
			watch();
		}
	}

	/**
	 * Lets there be so many threads; those that are needed begin now.
	 */
	private void letThereBe(int most) {
		this.threads.setMaximumPoolSize(Math.max(most, this.threads.getMaximumPoolSize()));
		this.threads.setCorePoolSize(most);
		this.threads.prestartAllCoreThreads(); // Those, too, that could not begin before.
	}

	private boolean mayBeMany() {
		return this.threads.getCorePoolSize() > FEW;
	}

	private boolean isQueued() {
		return !this.threads.getQueue().isEmpty();
	}

	/**
	 * Ends the threads, after all tasks, none of which waits for another any more.
	 */
	void shutdown() {
		try {
			letThereBe(Math.max(FEW, this.threads.getPoolSize() + this.threads.getQueue().size()));
		}
		catch (OutOfMemoryError noThread) {
			// They wait for others.
		}
		this.threads.shutdown();
	}

}
