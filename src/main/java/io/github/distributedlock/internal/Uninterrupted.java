package io.github.distributedlock.internal;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

/**
 * Waits that an interrupt does not end: a command that is under way is carried out all
 * the same, and the answer has to be known. The interrupt flag is set again after the
 * wait.
 */
public final class Uninterrupted {

	private Uninterrupted() {
	}

	/**
	 * Waits for a result.
	 * @param future the future result
	 * @param nanos how long to wait at most, in nanoseconds
	 * @return the result
	 * @throws ExecutionException if the future has failed
	 * @throws TimeoutException if no result comes in time
	 */
	public static <T extends @Nullable Object> T get(Future<T> future, long nanos)
			throws ExecutionException, TimeoutException {
		long end = System.nanoTime() + nanos;
		boolean interrupted = false;
		try {
			while (true) {
				try {
					return future.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
		}
		finally {
			restore(interrupted);
		}
	}

	/**
	 * Takes a permit.
	 * @param permits the semaphore
	 * @param nanos how long to wait at most, in nanoseconds
	 * @return {@code false} if no permit is free in time
	 */
	public static boolean tryAcquire(Semaphore permits, long nanos) {
		long end = System.nanoTime() + nanos;
		boolean interrupted = false;
		try {
			while (true) {
				try {
					return permits.tryAcquire(end - System.nanoTime(), TimeUnit.NANOSECONDS);
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
			}
		}
		finally {
			restore(interrupted);
		}
	}

	private static void restore(boolean interrupted) {
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

}
