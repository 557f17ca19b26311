package io.github.distributedlock.backend.redis.internal;

import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * Creates the threads of this package. A thread inherits neither the
 * {@link InheritableThreadLocal}s nor the class loader of the request that happens to
 * start the thread, since the thread works for other requests, too.
 */
final class DaemonThreads {

	private DaemonThreads() {
	}

	/**
	 * Creates a thread that does not keep the JVM alive.
	 */
	static Thread create(Runnable task, String name) {
		Thread thread = new Thread(null, task, name, 0, false);
		thread.setDaemon(true);
		thread.setContextClassLoader(DaemonThreads.class.getClassLoader());
		return thread;
	}

	/**
	 * Starts a thread for each task.
	 */
	static SimpleAsyncTaskExecutor each(String name) {
		SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor();
		threads.setThreadFactory((task) -> create(task, name));
		return threads;
	}

}
