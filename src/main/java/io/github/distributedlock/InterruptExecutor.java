package io.github.distributedlock;

import java.util.concurrent.Executor;

/**
 * The executor of an {@linkplain LockHandle#onLost(Runnable, Executor) action} that does
 * no more than interrupt a thread. An interrupt must come in time even where the process
 * can have no thread to give it, so any thread may run such an action. No API.
 */
public enum InterruptExecutor implements Executor {

	/**
	 * The only one.
	 */
	INSTANCE;

	@Override
	public void execute(Runnable interrupt) {
		interrupt.run();
	}

}
