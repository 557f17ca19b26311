package io.github.distributedlock.internal;

import java.util.concurrent.Executor;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of code whose lock may have been lost meanwhile.
 */
public final class LossOutcome {

	/**
	 * The executor of an {@linkplain LockHandle#onLost(Runnable, Executor) action} that
	 * only interrupts a thread. The interrupt must come in time even if the process
	 * cannot start another thread, so any thread may run the action.
	 */
	public static final Executor INTERRUPT = Runnable::run;

	private LossOutcome() {
	}

	/**
	 * Returns the outcome of code for which a loss is a failure. Throws nothing, whatever
	 * the handle does: the lock has yet to be released.
	 * @param failure the code's failure, {@code null} if the code succeeded
	 * @param handle the handle, still open
	 * @return the failure to report, {@code null} if there is none
	 */
	public static @Nullable Throwable of(@Nullable Throwable failure, LockHandle handle) {
		try {
			if (failure == null) {
				return loss(handle);
			}
			addLoss(failure, handle);
			return failure;
		}
		catch (Throwable ex) {
			return (failure != null) ? failure : ex;
		}
	}

	/**
	 * Throws if the lock was lost.
	 * @param handle the handle
	 * @throws LockLostException if the lock was lost
	 */
	public static void throwIfLost(LockHandle handle) {
		LockLostException loss = loss(handle);
		if (loss != null) {
			throw loss;
		}
	}

	/**
	 * Adds the loss, if there was one, to a failure, unless the failure is that loss
	 * already.
	 * @param failure the failure
	 * @param handle the handle
	 */
	public static void addLoss(Throwable failure, LockHandle handle) {
		LockLostException loss = loss(handle);
		if (loss != null && !(failure instanceof LockLostException known && known.keys().equals(loss.keys()))) {
			failure.addSuppressed(loss);
		}
	}

	/*
	 * Returns the loss of the lock, if there was one. A lock that the code closed itself
	 * was not lost.
	 */
	private static @Nullable LockLostException loss(LockHandle handle) {
		try {
			handle.checkHeld();
			return null;
		}
		catch (LockLostException ex) {
			return ex;
		}
		catch (IllegalStateException closed) {
			return null;
		}
	}

}
