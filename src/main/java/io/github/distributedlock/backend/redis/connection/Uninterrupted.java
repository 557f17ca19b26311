package io.github.distributedlock.backend.redis.connection;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

/**
 * Waits that an interrupt does not end, since a command that is under way is carried out
 * all the same, and its answer has to be known. The interrupt flag is set again after the
 * wait.
 */
final class Uninterrupted {

	private Uninterrupted() {
	}

	/**
	 * Waits for a result.
	 * @param future whose
	 * @param nanos how long at most
	 * @return the result
	 * @throws TimeoutException if there is none in time
	 */
	static <T extends @Nullable Object> T get(Future<T> future, long nanos)
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
	 * @param permits whose
	 * @param nanos how long to wait for one at most
	 * @return {@code false} if there is none in time
	 */
	static boolean tryAcquire(Semaphore permits, long nanos) {
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
