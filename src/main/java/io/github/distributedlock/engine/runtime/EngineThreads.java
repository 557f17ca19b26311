package io.github.distributedlock.engine.runtime;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * The system's clocks, and the few threads of an engine: the number of those that do its
 * own work does not grow with the number of locks, none is there before it is needed, and
 * idle ones end. Code of the application, which may block, gets as many as it needs, and
 * none of the others.
 */
public final class EngineThreads implements EngineTime, Workers, AutoCloseable {

	private static final int POOL_SIZE = 4;

	private static final long KEEP_ALIVE_SECONDS = 30;

	private static final long KEEP_CALLER_ALIVE_SECONDS = 5;

	private final ScheduledThreadPoolExecutor timer;

	private final ThreadPoolExecutor renewals = pool("renewal", POOL_SIZE, new ThreadPoolExecutor.DiscardPolicy());

	/**
	 * One more than two nodes may occupy, for clean-ups. Where more nodes stall, each
	 * task of another one waits until some of theirs are given up, about one or two
	 * command timeouts. Also after the end: a request that notices that late has yet to
	 * give back what was granted to it.
	 */
	private final ThreadPoolExecutor background = pool("background", NodeTasks.THREADS + 1,
			EngineThreads::runOnThreadOfItsOwn);

	/**
	 * Also after the end, of which each request has yet to be told.
	 */
	private final ThreadPoolExecutor requests = pool("request", NodeTasks.THREADS, EngineThreads::runOnThreadOfItsOwn);

	private final ThreadPoolExecutor reactions = unbounded("loss");

	private final ThreadPoolExecutor listeners = unbounded("listener");

	private final ThreadPoolExecutor actions = unbounded("action");

	private final CallbackThreads callbacks;

	private final @Nullable Executor callbackExecutor;

	/**
	 * Creates them, but starts none.
	 * @param callbackExecutor runs the callbacks, {@code null} for threads of their own
	 */
	public EngineThreads(@Nullable Executor callbackExecutor) {
		this.callbackExecutor = callbackExecutor;
		this.timer = new ScheduledThreadPoolExecutor(1, threads("timer"));
		this.timer.setRemoveOnCancelPolicy(true);
		this.timer.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
		this.timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
		this.timer.setKeepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS);
		this.timer.allowCoreThreadTimeOut(true);
		ThreadPoolExecutor few = pool("callback", CallbackThreads.FEW, EngineThreads::runOnThreadOfItsOwn);
		few.setKeepAliveTime(KEEP_CALLER_ALIVE_SECONDS, TimeUnit.SECONDS);
		this.callbacks = new CallbackThreads(few, this.timer);
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
		return () -> cancel(scheduled);
	}

	private static void cancel(Future<?> scheduled) {
		scheduled.cancel(false);
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
	public void request(Runnable task) {
		this.requests.execute(task);
	}

	@Override
	public void reaction(Runnable task) {
		this.reactions.execute(task);
	}

	@Override
	public void listener(Runnable task) {
		this.listeners.execute(task);
	}

	@Override
	public void action(Runnable task) {
		this.actions.execute(asTheApplicationSays(task));
	}

	@Override
	public void callback(Runnable task) {
		this.callbacks.execute(asTheApplicationSays(task));
	}

	/**
	 * An executor of the application may block, refuse, or run the task at once, so it is
	 * asked on a thread where that does no harm.
	 */
	private Runnable asTheApplicationSays(Runnable task) {
		Executor executor = this.callbackExecutor;
		return (executor == null) ? task : () -> {
			if (!UserCode.run(() -> executor.execute(task), () -> "The callback executor")) {
				task.run();
			}
		};
	}

	/**
	 * Ends the threads, after what they have begun and, for a moment, what is queued.
	 */
	@Override
	public void close() {
		this.timer.shutdown();
		for (ExecutorService executor : new ExecutorService[] { this.renewals, this.background, this.requests,
				this.reactions, this.listeners, this.actions }) {
			executor.shutdown();
		}
		this.callbacks.shutdown();
		try {
			this.background.awaitTermination(1, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.background.shutdownNow();
	}

	private static ThreadPoolExecutor pool(String name, int size, RejectedExecutionHandler afterTheEnd) {
		ThreadPoolExecutor pool = new ThreadPoolExecutor(size, size, KEEP_ALIVE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), threads(name), afterTheEnd);
		pool.allowCoreThreadTimeOut(true);
		return pool;
	}

	/**
	 * A thread for each task, also after the end.
	 */
	private static ThreadPoolExecutor unbounded(String name) {
		return new ThreadPoolExecutor(0, Integer.MAX_VALUE, KEEP_CALLER_ALIVE_SECONDS, TimeUnit.SECONDS,
				new SynchronousQueue<>(), threads(name), EngineThreads::runOnThreadOfItsOwn);
	}

	private static void runOnThreadOfItsOwn(Runnable task, ThreadPoolExecutor ended) {
		ended.getThreadFactory().newThread(task).start();
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
