package io.github.distributedlock.engine;

import java.lang.reflect.Method;
import java.util.Deque;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
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
 * Provides the system's clocks, and the few threads of an engine. The number of threads
 * that do the engine's own work does not grow with the number of locks. No thread is
 * there before it is needed, and idle threads end. Code of the application, which may
 * block, gets as many threads as that code needs, and none of the engine's own.
 * <p>
 * <b>Where the process may have no more threads</b>, a start of a thread fails with an
 * {@link OutOfMemoryError}. Then a task goes to a living thread of its kind. The timer
 * and one thread for renewals live as long as any lock is held. If a kind has no living
 * thread, then a listener's call, an action and a callback are kept until a thread can be
 * had; the timer tries again and again to start one. A task of another kind is refused
 * with the error, since the caller knows what to do instead.
 * <p>
 * No thread inherits anything of the thread that happens to start it: neither inheritable
 * thread-locals, such as a security context, nor the context class loader.
 */
final class EngineThreads implements EngineTime, Workers, AutoCloseable {

	private static final int POOL_SIZE = 4;

	private static final long KEEP_ALIVE_SECONDS = 5;

	/**
	 * The shortest and the longest pause, in milliseconds, between the trials to start a
	 * thread for tasks that wait for one.
	 */
	private static final long SHORTEST_RETRY_MILLIS = 100;

	private static final long LONGEST_RETRY_MILLIS = 1000;

	/**
	 * The time between two looks after a thread for renewals, less than the time after
	 * which idle threads end.
	 */
	private static final long PREPARED_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final Runnable NOTHING = () -> {
	};

	private final ThreadFactory starter;

	private final @Nullable ClassLoader classLoader = Thread.currentThread().getContextClassLoader();

	private final ScheduledThreadPoolExecutor timer;

	private final ThreadPoolExecutor renewals;

	/**
	 * Threads for clean-ups, one more than two nodes may occupy. Where more nodes stall,
	 * each task of another node waits until some tasks of theirs are given up, about one
	 * or two command timeouts. These threads take tasks also after the end of the engine:
	 * a request that notices the end late has yet to release what was granted to the
	 * request.
	 */
	private final ThreadPoolExecutor background;

	/**
	 * Threads for requests, also after the end of the engine, of which each request has
	 * yet to hear.
	 */
	private final ThreadPoolExecutor requests;

	/**
	 * Threads for listeners, one for each task, also after the end of the engine.
	 */
	private final ThreadPoolExecutor listeners;

	/**
	 * Calls of listeners, actions and callbacks that have found no thread, in order. A
	 * listener's thread that has ended its own task takes the next task from here.
	 */
	private final Deque<Runnable> kept = new ConcurrentLinkedDeque<>();

	private final CallbackThreads callbacks;

	/**
	 * {@code true} if the timer is to try again to start threads.
	 */
	private final AtomicBoolean retrying = new AtomicBoolean();

	/**
	 * The pause, in milliseconds, before the timer tries again. The pause doubles, since
	 * a JVM logs each start of a thread that fails.
	 */
	private volatile long retryMillis = SHORTEST_RETRY_MILLIS;

	/**
	 * The moment at which a thread for renewals was last known to live for the next
	 * seconds.
	 */
	private volatile long preparedAt = System.nanoTime() - PREPARED_NANOS;

	private final @Nullable Executor callbackExecutor;

	/**
	 * Creates the pools, but starts no thread.
	 * @param callbackExecutor runs the callbacks, {@code null} for threads of the engine
	 */
	EngineThreads(@Nullable Executor callbackExecutor) {
		this(callbackExecutor, (task) -> new Thread(null, task, "lock", 0, false));
	}

	/**
	 * Creates the pools, but starts no thread.
	 * @param callbackExecutor as above
	 * @param starter makes a thread, which this object names and starts
	 */
	EngineThreads(@Nullable Executor callbackExecutor, ThreadFactory starter) {
		this.callbackExecutor = callbackExecutor;
		this.starter = starter;
		this.renewals = pool("renewal", POOL_SIZE, new ThreadPoolExecutor.DiscardPolicy());
		this.background = pool("background", NodeTasks.THREADS + 1, EngineThreads::runOnNewThread);
		this.requests = pool("request", NodeTasks.THREADS, EngineThreads::runOnNewThread);
		this.listeners = new ThreadPoolExecutor(0, Integer.MAX_VALUE, KEEP_ALIVE_SECONDS, TimeUnit.SECONDS,
				new SynchronousQueue<>(), threads("listener"), EngineThreads::runOnNewThread);
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

	/**
	 * Checks at most once a second that a thread for renewals lives, which is more often
	 * than such a thread ends while idle.
	 */
	@Override
	public void prepareRenewals() {
		long now = System.nanoTime();
		if (now - this.preparedAt >= PREPARED_NANOS) {
			if (this.renewals.getPoolSize() > 0) {
				this.renewals.getQueue().add(NOTHING); // Idle threads count anew.
			}
			else {
				this.renewals.prestartCoreThread();
			}
			this.preparedAt = now;
		}
	}

	@Override
	public void renewal(Runnable task) {
		// A task that throws would end the thread, and perhaps no other thread may be
		// had.
		execute(this.renewals, () -> Failures.run(task, () -> "A round of renewals"));
	}

	@Override
	public void background(Runnable task) {
		execute(this.background, task);
	}

	@Override
	public void request(Runnable task) {
		execute(this.requests, task);
	}

	@Override
	public void listener(Runnable task) {
		if (!startListener(task)) {
			keep(task);
		}
	}

	@Override
	public void interrupt(Runnable task) {
		if (!startListener(task)) {
			task.run();
		}
	}

	@Override
	public void action(Runnable task) {
		listener(onCallbackExecutor(task));
	}

	@Override
	public void callback(Runnable task) {
		Runnable code = onCallbackExecutor(task);
		try {
			this.callbacks.execute(code);
		}
		catch (OutOfMemoryError noThread) {
			if (!keep(code) && this.kept.remove(code)) {
				throw noThread;
			}
		}
	}

	/**
	 * Gives a task to a pool with a queue: to a new thread if the pool may have one more,
	 * and else to those that live.
	 * @throws OutOfMemoryError if the pool has no thread and gets none
	 */
	private static void execute(ThreadPoolExecutor pool, Runnable task) {
		try {
			pool.execute(task);
		}
		catch (OutOfMemoryError noThread) {
			Queue<Runnable> queue = pool.getQueue();
			boolean queued = !pool.isShutdown() && (queue.contains(task) || queue.add(task));
			if (pool.getPoolSize() == 0 && (!queued || queue.remove(task))) {
				throw noThread;
			}
		}
	}

	/**
	 * Runs a task on a thread of its own.
	 * @return {@code false} if no thread can be had
	 */
	private boolean startListener(Runnable task) {
		try {
			this.listeners.execute(() -> {
				task.run();
				for (Runnable next = this.kept.poll(); next != null; next = this.kept.poll()) {
					next.run();
				}
			});
			return true;
		}
		catch (OutOfMemoryError noThread) {
			return false;
		}
	}

	/**
	 * Keeps a task until a thread can be had.
	 * @return {@code false} if the timer has no thread either, and gets one only with the
	 * next alarm of the engine
	 */
	private boolean keep(Runnable task) {
		this.kept.add(task);
		retryLater();
		if (this.timer.isShutdown()) {
			runKept();
			return true;
		}
		return this.timer.getPoolSize() > 0;
	}

	private void retryLater() {
		if (this.retrying.compareAndSet(false, true)) {
			try {
				this.timer.schedule(this::retry, this.retryMillis, TimeUnit.MILLISECONDS);
			}
			catch (OutOfMemoryError noThread) {
				// The timer has the retry all the same, and runs the retry with the next
				// alarm.
			}
		}
	}

	private void retry() {
		this.retrying.set(false);
		Runnable next = this.kept.poll();
		while (next != null && startListener(next)) {
			next = this.kept.poll();
		}
		if (next == null) {
			this.retryMillis = SHORTEST_RETRY_MILLIS;
		}
		else {
			this.kept.addFirst(next);
			this.retryMillis = Math.min(2 * this.retryMillis, LONGEST_RETRY_MILLIS);
			retryLater();
		}
	}

	/**
	 * Runs the tasks that no other thread will run any more, on the calling thread if no
	 * thread can be had.
	 */
	private void runKept() {
		for (Runnable next = this.kept.poll(); next != null; next = this.kept.poll()) {
			if (!startListener(next)) {
				Failures.run(next, () -> "A task at the end of the engine");
			}
		}
	}

	/**
	 * Returns a task that calls the executor of the application. The executor may block,
	 * refuse, or run the task at once, so the call belongs on a thread where that does no
	 * harm.
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
	 * Ends the threads after the tasks that they have begun and, for a moment, after the
	 * tasks that are queued.
	 */
	@Override
	public void close() {
		List.of(this.timer, this.renewals, this.background, this.requests, this.listeners)
			.forEach(ExecutorService::shutdown);
		this.callbacks.shutdown();
		runKept();
		try {
			this.background.awaitTermination(1, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		this.background.shutdownNow();
	}

	private ThreadPoolExecutor pool(String name, int size, RejectedExecutionHandler afterTheEnd) {
		ThreadPoolExecutor pool = new ThreadPoolExecutor(size, size, KEEP_ALIVE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), threads(name), afterTheEnd);
		pool.allowCoreThreadTimeOut(true);
		return pool;
	}

	private static void runOnNewThread(Runnable task, ThreadPoolExecutor ended) {
		ended.getThreadFactory().newThread(task).start();
	}

	private ThreadFactory threads(String name) {
		AtomicInteger number = new AtomicInteger();
		return (task) -> {
			Thread thread = this.starter.newThread(task);
			thread.setName("distributed-lock-" + name + "-" + number.incrementAndGet());
			thread.setDaemon(true);
			thread.setContextClassLoader(this.classLoader);
			return thread;
		};
	}

	/**
	 * Threads for code of the application, which may block: few while no task blocks,
	 * else as many as necessary. So a burst of ten thousand futures needs no more threads
	 * than one future, and yet no future has to wait for another.
	 * <p>
	 * A thread counts as blocked if the thread is inside the same task at two looks, one
	 * after the other, {@value #PAUSE_MILLIS} ms apart. A thread that waits within a task
	 * since the machine is busy looks the same. So threads are added only if the queue
	 * stands, too: some of what was queued at the first look is still queued at the
	 * second. While the queue does not stand, idle threads may end.
	 * <p>
	 * Invariants: a look is scheduled while tasks are queued, or more threads than a few
	 * may begin. Of these threads, a few are not blocked, and half as many as are
	 * blocked: so ten times as many block within a second. There are not more threads
	 * than tasks. Safe for use by many threads.
	 */
	static final class CallbackThreads implements Executor {

		/**
		 * The most threads while no task blocks.
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
		 * How many tasks had begun and how many were queued at the last look. Confined to
		 * the looks, of which there is one at a time.
		 */
		private long begunBefore;

		private int queuedBefore;

		/**
		 * Creates an executor that has no tasks.
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
			EngineThreads.execute(this.threads, () -> run(code));
			try {
				watch();
			}
			catch (OutOfMemoryError noThread) {
				// The task is queued all the same. The next alarm or task looks.
			}
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
		 * Lets so many threads stay. Those of them that are needed begin now, including
		 * those that could not begin before.
		 */
		private void grow(int most) {
			if (this.threads.getCorePoolSize() != most) { // Wakes idle threads.
				this.threads.setCorePoolSize(most);
			}
			if (most > FEW) {
				this.threads.prestartAllCoreThreads();
			}
		}

		/**
		 * Ends the threads after all tasks. No task waits for another any more.
		 */
		void shutdown() {
			try {
				grow(Math.max(FEW, this.threads.getPoolSize() + this.threads.getQueue().size()));
			}
			catch (OutOfMemoryError noThread) {
				// The queued tasks wait for the threads that live.
			}
			this.threads.shutdown();
		}

	}

	/**
	 * Allows BlockHound, where an application uses BlockHound, to hand the engine a task,
	 * which does not block. An executor of the JDK locks its queue for a few steps, as
	 * the timers of Reactor do, which BlockHound allows. BlockHound finds this class as a
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
