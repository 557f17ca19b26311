package io.github.distributedlock.internal;

import java.util.concurrent.Executor;

import io.github.distributedlock.LockHandle;

/**
 * The executor of an {@linkplain LockHandle#onLost(Runnable, Executor) action} that only
 * interrupts a thread. The interrupt must come in time even if the process cannot start
 * another thread, so any thread may run the action. No API.
 */
public enum InterruptExecutor implements Executor {

	/**
	 * The only instance.
	 */
	INSTANCE;

	@Override
	public void execute(Runnable interrupt) {
		interrupt.run();
	}

}
