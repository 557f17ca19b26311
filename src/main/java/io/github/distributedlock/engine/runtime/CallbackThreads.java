package io.github.distributedlock.engine.runtime;

import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

/**
 * Threads for code of the application, which may block: few while none of it does, else
 * as many as it takes. So a burst of ten thousand futures needs no more threads than one,
 * and yet none has to wait for another.
 * <p>
 * Invariants: a look is scheduled while tasks are queued, or there may be more threads
 * than a few. If no task has begun for {@value #LOOKS} looks, there may be twice as many
 * threads; when none is queued, only a few again. Safe for use by many threads.
 */
final class CallbackThreads implements Executor {

	/**
	 * How many there may be while no task blocks.
	 */
	static final int FEW = 4;

	/**
	 * How often it looks in vain: one look may be late, and the threads as well.
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
		if ((next() != null || mayBeMany()) && this.watched.compareAndSet(false, true)) {
			Undo.ifFails(() -> lookLater(next(), 0), () -> this.watched.set(false));
		}
	}

	private void lookLater(@Nullable Runnable next, int inVain) {
		this.timer.schedule(() -> look(next, inVain), PAUSE_MILLIS, TimeUnit.MILLISECONDS);
	}

	private void look(@Nullable Runnable before, int inVain) {
		Runnable next = next();
		if (next != null && next == before) {
			if (inVain + 1 < LOOKS) {
				lookLater(next, inVain + 1);
				return;
			}
			add(this.threads.getCorePoolSize());
		}
		else if (next == null) {
			this.threads.setCorePoolSize(FEW);
		}
		this.watched.set(false);
		watch();
	}

	/**
	 * Lets there be so many more threads; those that are needed begin now.
	 */
	private void add(int more) {
		int most = this.threads.getCorePoolSize() + more;
		this.threads.setMaximumPoolSize(Math.max(most, this.threads.getMaximumPoolSize()));
		this.threads.setCorePoolSize(most);
	}

	private boolean mayBeMany() {
		return this.threads.getCorePoolSize() > FEW;
	}

	private @Nullable Runnable next() {
		return this.threads.getQueue().peek();
	}

	/**
	 * Ends the threads, after all tasks, none of which waits for another any more.
	 */
	void shutdown() {
		add(this.threads.getQueue().size());
		this.threads.shutdown();
	}

}
