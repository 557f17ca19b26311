package io.github.distributedlock.engine;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The system's clocks, and the few threads of an engine: their number does not grow with
 * the number of locks, none is there before it is needed, and idle ones end.
 */
final class EngineThreads implements EngineTime, Workers, AutoCloseable {

	private static final long KEEP_ALIVE_SECONDS = 30;

	private final ScheduledThreadPoolExecutor timer;

	private final ThreadPoolExecutor renewals = pool("renewal", 4);

	private final ThreadPoolExecutor background = pool("background", 4);

	private final ThreadPoolExecutor lossActions = pool("loss-action", 4);

	private final ThreadPoolExecutor callbacks = pool("callback", 1);

	EngineThreads() {
		this.timer = new ScheduledThreadPoolExecutor(1, threads("timer"));
		this.timer.setRemoveOnCancelPolicy(true);
		this.timer.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
		this.timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
		this.timer.setKeepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS);
		this.timer.allowCoreThreadTimeOut(true);
	}

	@Override
	public long nanoTime() {
		return System.nanoTime();
	}

	@Override
	public long wallNanos() {
		return TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
	}

	@Override
	public boolean await(Semaphore signal, long nanos) throws InterruptedException {
		return signal.tryAcquire(nanos, TimeUnit.NANOSECONDS);
	}

	@Override
	public Alarm schedule(Runnable task, long delayNanos) {
		Future<?> scheduled = this.timer.schedule(task, delayNanos, TimeUnit.NANOSECONDS);
		return () -> scheduled.cancel(false);
	}

	@Override
	public void renewal(Runnable task) {
		this.renewals.execute(task);
	}

	@Override
	public void background(Runnable task) {
		this.background.execute(task);
	}

	@Override
	public void lossActions(Runnable task) {
		this.lossActions.execute(task);
	}

	@Override
	public void callback(Runnable task) {
		this.callbacks.execute(task);
	}

	/**
	 * Ends the threads, after what they have begun and, for a moment, what is queued.
	 */
	@Override
	public void close() {
		this.timer.shutdown();
		for (ExecutorService executor : new ExecutorService[] { this.renewals, this.background, this.lossActions,
				this.callbacks }) {
			executor.shutdown();
		}
		try {
			this.background.awaitTermination(1, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.background.shutdownNow();
	}

	private static ThreadPoolExecutor pool(String name, int size) {
		ThreadPoolExecutor pool = new ThreadPoolExecutor(size, size, KEEP_ALIVE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), threads(name), new ThreadPoolExecutor.DiscardPolicy());
		pool.allowCoreThreadTimeOut(true);
		return pool;
	}

	private static ThreadFactory threads(String name) {
		AtomicInteger number = new AtomicInteger();
		return (task) -> {
			Thread thread = new Thread(task, "lock-" + name + "-" + number.incrementAndGet());
			thread.setDaemon(true);
			return thread;
		};
	}

}
