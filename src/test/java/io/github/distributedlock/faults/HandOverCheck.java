package io.github.distributedlock.faults;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A lock goes from a member that gives it back to one that waits for it.
 */
final class HandOverCheck {

	/** A key that nobody else asks for. */
	private static final String KEY = "handed-over";

	private static final Duration PATIENCE = Workload.PATIENCE;

	private HandOverCheck() {
	}

	/**
	 * Lets the rival wait for what the holder has, and asserts that it gets it when the
	 * holder has given it back, if need be because it asks of its own accord.
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
		assertThat(taken).as("taken while it is held").isNotDone();
		given.close();
		assertThat(taken).as("taken").succeedsWithin(PATIENCE);
	}

	/** Whether it has asked in vain, and waits for a wake-up or its next poll. */
	private static boolean isParked(Thread waiter) {
		return Arrays.stream(waiter.getStackTrace())
			.anyMatch((frame) -> frame.getClassName().endsWith(".Wait") && frame.getMethodName().equals("await"));
	}

}
