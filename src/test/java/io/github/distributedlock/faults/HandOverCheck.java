package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A lock goes from a member that gives it back to a member that waits.
 */
final class HandOverCheck {

	/** A key that nobody else asks for. */
	private static final String KEY = "handed-over";

	private static final Duration PATIENCE = Workload.PATIENCE;

	private HandOverCheck() {
	}

	/**
	 * Lets the rival wait for a lock of the holder, and asserts that the rival gets the
	 * lock after the release, if need be by asking without a wake-up.
	 */
	static void assertHandedOver(Trial trial) throws Exception {
		LockHandle given = trial.holder().engine().acquire(KEY);
		CompletableFuture<Long> taken = new CompletableFuture<>();
		Thread waiter = new Thread(() -> taken.completeAsync(() -> {
			try (LockHandle handle = trial.rival().engine().acquire(LockRequest.of(KEY).waitTime(PATIENCE))) {
				return System.nanoTime();
			}
		}, Runnable::run), "waiter");
		waiter.start();
		await("somebody waits").until(() -> isParked(waiter));
		assertThat(taken).as("taken while the lock is held").isNotDone();
		given.close();
		assertThat(taken).as("taken").succeedsWithin(PATIENCE);
	}

	/**
	 * Returns whether the thread has asked in vain, and waits for a wake-up or the next
	 * poll.
	 */
	private static boolean isParked(Thread waiter) {
		return Arrays.stream(waiter.getStackTrace())
			.anyMatch((frame) -> frame.getClassName().endsWith(".Wait") && frame.getMethodName().equals("await"));
	}

}
