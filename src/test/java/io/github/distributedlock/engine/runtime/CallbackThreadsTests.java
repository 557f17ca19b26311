package io.github.distributedlock.engine.runtime;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.fixtures.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Code of the application gets a few threads, and more only if it blocks those.
 */
class CallbackThreadsTests {

	private static final int FEW = CallbackThreads.FEW;

	private final ThreadPoolExecutor pool = new ThreadPoolExecutor(FEW, FEW, 1, TimeUnit.SECONDS,
			new LinkedBlockingQueue<>());

	private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1);

	private final CallbackThreads threads = new CallbackThreads(this.pool, this.timer);

	private final CountDownLatch end = new CountDownLatch(1);

	CallbackThreadsTests() {
		this.pool.allowCoreThreadTimeOut(true);
	}

	@AfterEach
	void end() {
		this.end.countDown();
		this.timer.shutdown();
		this.pool.shutdown();
	}

	@Test
	void noneWaitsForOthersThatBlock() {
		CountDownLatch blocked = new CountDownLatch(10 * FEW);
		for (int i = 0; i < 10 * FEW; i++) {
			this.threads.execute(() -> block(blocked));
		}
		Patience.await(blocked, "all block at the same time");
		this.end.countDown();
		Awaitility.await("only a few again").until(() -> this.pool.getCorePoolSize() == FEW);
		Awaitility.await("no look is needed any more").until(() -> this.timer.getQueue().isEmpty());
	}

	@Test
	void afterTheEndNoneWaitsEither() {
		this.timer.shutdown(); // So that nobody looks.
		CountDownLatch blocked = new CountDownLatch(10 * FEW);
		for (int i = 0; i < 10 * FEW; i++) {
			this.pool.execute(() -> block(blocked));
		}
		assertThat(this.pool.getQueue()).isNotEmpty();
		this.threads.shutdown();
		Patience.await(blocked, "all block at the same time");
	}

	private void block(CountDownLatch blocked) {
		blocked.countDown();
		Patience.await(this.end, "the end of the test");
	}

}
