package io.github.distributedlock.engine;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.github.distributedlock.engine.EngineTime.Workers;
import org.jspecify.annotations.Nullable;
import reactor.blockhound.BlockHound;
import reactor.blockhound.integration.BlockHoundIntegration;

/**
 * The system's clocks, and the few threads of an engine: the number of those that do its
 * own work does not grow with the number of locks, none is there before it is needed, and
 * idle ones end. Code of the application, which may block, gets as many as it needs, and
 * none of the others.
 */
final class EngineThreads implements EngineTime, Workers, AutoCloseable {

	private static final int POOL_SIZE = 4;

	private static final long KEEP_ALIVE_SECONDS = 5;

	private final ScheduledThreadPoolExecutor timer;

	private final ThreadPoolExecutor renewals = pool("renewal", POOL_SIZE, new ThreadPoolExecutor.DiscardPolicy());

	/**
	 * One more than two nodes may occupy, for clean-ups. Where more nodes stall, each
	 * task of another one waits until some of theirs are given up, about one or two
	 * command timeouts. Also after the end: a request that notices that late has yet to
	 * release what was granted to it.
	 */
	private final ThreadPoolExecutor background = pool("background", NodeTasks.THREADS + 1,
			EngineThreads::runOnNewThread);

	/**
	 * Also after the end, of which each request has yet to hear.
	 */
	private final ThreadPoolExecutor requests = pool("request", NodeTasks.THREADS, EngineThreads::runOnNewThread);

	/**
	 * A thread for each task, also after the end.
	 */
	private final ThreadPoolExecutor listeners = new ThreadPoolExecutor(0, Integer.MAX_VALUE, KEEP_ALIVE_SECONDS,
			TimeUnit.SECONDS, new SynchronousQueue<>(), threads("listener"), EngineThreads::runOnNewThread);

	private final CallbackThreads callbacks;

	private final @Nullable Executor callbackExecutor;

	/**
	 * Creates them, but starts none.
	 * @param callbackExecutor runs the callbacks, {@code null} for threads of their own
	 */
	EngineThreads(@Nullable Executor callbackExecutor) {
		this.callbackExecutor = callbackExecutor;
		this.timer = new ScheduledThreadPoolExecutor(1, threads("timer"), new ThreadPoolExecutor.DiscardPolicy());
		this.timer.setRemoveOnCancelPolicy(true);
		this.timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
		this.timer.setKeepAliveTime(KEEP_ALIVE_SECONDS, TimeUnit.SECONDS);
		this.timer.allowCoreThreadTimeOut(true);
		this.callbacks = new CallbackThreads(pool("callback", CallbackThreads.FEW, EngineThreads::runOnNewThread),
				this.timer);
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
	public Runnable schedule(Runnable task, long delayNanos) {
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
	public void listener(Runnable task) {
		this.listeners.execute(task);
	}

	@Override
	public void action(Runnable task) {
		this.listeners.execute(onCallbackExecutor(task));
	}

	@Override
	public void callback(Runnable task) {
		this.callbacks.execute(onCallbackExecutor(task));
	}

	/**
	 * An executor of the application may block, refuse, or run the task at once, so it is
	 * called on a thread where that does no harm.
	 */
	private Runnable onCallbackExecutor(Runnable task) {
		Executor executor = this.callbackExecutor;
		return (executor == null) ? task : () -> {
			if (!Failures.run(() -> executor.execute(task), () -> "The callback executor")) {
				task.run();
			}
		};
	}

	/**
	 * Ends the threads, after what they have begun and, for a moment, what is queued.
	 */
	@Override
	public void close() {
		List.of(this.timer, this.renewals, this.background, this.requests, this.listeners)
			.forEach(ExecutorService::shutdown);
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

	private static void runOnNewThread(Runnable task, ThreadPoolExecutor ended) {
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

	/**
	 * Threads for code of the application, which may block: few while none of it does,
	 * else as many as it takes. So a burst of ten thousand futures needs no more threads
	 * than one, and yet none has to wait for another.
	 * <p>
	 * A thread counts as blocked if it is inside the same task at two looks, one after
	 * the other, {@value #PAUSE_MILLIS} ms apart. A thread that waits within a task since
	 * the machine is busy looks the same. So threads are added only if the queue stands,
	 * too: some of what was queued at the first look is still queued at the second. While
	 * the queue does not stand, idle threads may end.
	 * <p>
	 * Invariants: a look is scheduled while tasks are queued, or more threads than a few
	 * may begin. Of these, a few are not blocked, and half as many as are blocked: so ten
	 * times as many block within a second. There are not more than there are tasks. Safe
	 * for use by many threads.
	 */
	static final class CallbackThreads implements Executor {

		/**
		 * How many there may be while no task blocks.
		 */
		static final int FEW = 4;

		private static final long PAUSE_MILLIS = 40;

		private final ThreadPoolExecutor threads;

		private final ScheduledExecutorService timer;

		private final AtomicBoolean watched = new AtomicBoolean();

		/**
		 * The numbers of the tasks that have begun and not ended.
		 */
		private final Set<Long> inside = ConcurrentHashMap.newKeySet();

		private final AtomicLong begun = new AtomicLong();

		/**
		 * How many had begun and how many were queued at the last look. Confined to the
		 * looks, of which there is one at a time.
		 */
		private long begunBefore;

		private int queuedBefore;

		/**
		 * Creates it.
		 * @param threads a pool of {@link #FEW} threads, of which all may end, with a
		 * queue in order of arrival
		 * @param timer schedules the looks
		 */
		CallbackThreads(ThreadPoolExecutor threads, ScheduledExecutorService timer) {
			threads.setMaximumPoolSize(Integer.MAX_VALUE);
			this.threads = threads;
			this.timer = timer;
		}

		@Override
		public void execute(Runnable code) {
			this.threads.execute(() -> run(code));
			watch();
		}

		private void run(Runnable code) {
			Long number = this.begun.incrementAndGet();
			this.inside.add(number);
			try {
				code.run();
			}
			finally {
				this.inside.remove(number);
			}
		}

		private void watch() {
			if ((!this.threads.getQueue().isEmpty() || this.threads.getCorePoolSize() > FEW)
					&& this.watched.compareAndSet(false, true)) {
				Failures.orUndo(() -> this.timer.schedule(this::look, PAUSE_MILLIS, TimeUnit.MILLISECONDS),
						() -> this.watched.set(false));
			}
		}

		private void look() {
			try {
				long begunNow = this.begun.get();
				int queuedNow = this.threads.getQueue().size();
				int blocked = (int) this.inside.stream().filter((number) -> number <= this.begunBefore).count();
				boolean stands = queuedNow > 0 && begunNow - this.begunBefore < this.queuedBefore;
				this.begunBefore = begunNow;
				this.queuedBefore = queuedNow;
				int now = this.threads.getPoolSize();
				int wanted = Math.min(blocked + Math.max(FEW, blocked / 2), now + queuedNow);
				grow(stands ? Math.max(FEW, Math.max(now, wanted)) : FEW);
			}
			finally {
				this.watched.set(false);
				watch();
			}
		}

		/**
		 * Lets so many threads stay; those of them that are needed begin now, those, too,
		 * that could not begin before.
		 */
		private void grow(int most) {
			if (this.threads.getCorePoolSize() != most) { // Wakes those that are idle.
				this.threads.setCorePoolSize(most);
			}
			if (most > FEW) {
				this.threads.prestartAllCoreThreads();
			}
		}

		/**
		 * Ends the threads, after all tasks, none of which waits for another any more.
		 */
		void shutdown() {
			try {
				grow(Math.max(FEW, this.threads.getPoolSize() + this.threads.getQueue().size()));
			}
			catch (OutOfMemoryError noThread) {
				// They wait for others.
			}
			this.threads.shutdown();
		}

	}

	/**
	 * Allows BlockHound, where an application uses it, to hand the engine a task, which
	 * does not block: an executor of the JDK locks its queue for a few steps, as the
	 * timers of Reactor do, which are allowed to. BlockHound finds this class as a
	 * service.
	 */
	public static final class BlockHoundAllowances implements BlockHoundIntegration {

		@Override
		public void applyTo(BlockHound.Builder builder) {
			String threads = EngineThreads.class.getName();
			for (Method method : Workers.class.getDeclaredMethods()) {
				builder.allowBlockingCallsInside(threads, method.getName());
			}
			builder.allowBlockingCallsInside(threads, "schedule");
			builder.allowBlockingCallsInside(threads, "cancel");
		}

	}

}
