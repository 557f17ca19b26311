package io.github.distributedlock.internal;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * Creates, and ends, threads that do not keep the JVM alive. A thread inherits neither
 * the {@link InheritableThreadLocal}s nor the class loader of the request that happens to
 * start the thread, since the thread works for other requests, too: a data source, for
 * instance, may choose its database by such a variable.
 */
public final class DaemonThreads {

	/**
	 * Carries out what is delayed. Code of the application can block the JDK's own thread
	 * for delays: all that depends on a future with a timeout runs there.
	 */
	private static final ScheduledThreadPoolExecutor DELAYS = delays();

	private DaemonThreads() {
	}

	/**
	 * Creates a thread.
	 * @param task what the thread runs
	 * @param name the name of the thread
	 * @return the thread, not started
	 */
	public static Thread create(Runnable task, String name) {
		Thread thread = new Thread(null, task, name, 0, false);
		thread.setDaemon(true);
		thread.setContextClassLoader(DaemonThreads.class.getClassLoader());
		return thread;
	}

	/**
	 * Returns a factory of threads.
	 * @param name the name of all threads
	 * @return the factory
	 */
	public static ThreadFactory named(String name) {
		return (task) -> create(task, name);
	}

	/**
	 * Returns an executor that starts a thread for each task.
	 * @param name the name of all threads
	 * @return the executor
	 */
	public static SimpleAsyncTaskExecutor each(String name) {
		SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor();
		threads.setThreadFactory(named(name));
		return threads;
	}

	/**
	 * Ends a thread that waits, parked or for a connection.
	 * @param thread the thread
	 * @param timeout how long to wait before the thread is interrupted
	 */
	public static void end(Thread thread, Duration timeout) {
		LockSupport.unpark(thread);
		try {
			thread.join(timeout.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		if (thread.isAlive()) {
			thread.interrupt();
		}
	}

	/**
	 * Runs an action later, on a thread that all delayed actions share.
	 * @param action the action, which must not block
	 * @param nanos the delay, in nanoseconds
	 * @return the future, to cancel the action by
	 */
	public static Future<?> delay(Runnable action, long nanos) {
		return DELAYS.schedule(action, nanos, TimeUnit.NANOSECONDS);
	}

	private static ScheduledThreadPoolExecutor delays() {
		ScheduledThreadPoolExecutor delays = new ScheduledThreadPoolExecutor(1, named("distributed-lock-delay"));
		delays.setRemoveOnCancelPolicy(true);
		// The thread ends while nothing is delayed.
		delays.setKeepAliveTime(1, TimeUnit.SECONDS);
		delays.allowCoreThreadTimeOut(true);
		return delays;
	}

}
