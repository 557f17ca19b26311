package io.github.distributedlock.engine.runtime;

import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Suspicions of a reviewer.
 */
class CallbackEyesTests {

	private static final int FEW = CallbackThreads.FEW;

	private final AtomicBoolean lacking = new AtomicBoolean();

	private final ThreadPoolExecutor pool = new ThreadPoolExecutor(FEW, FEW, 1, TimeUnit.SECONDS,
			new LinkedBlockingQueue<>(), (task) -> {
				if (this.lacking.get()) {
					throw new OutOfMemoryError("unable to create native thread (test)");
				}
				return new Thread(task);
			});

	private final Queue<Runnable> looks = new ArrayDeque<>();

	private final ScheduledExecutorService timer = (ScheduledExecutorService) Proxy.newProxyInstance(
			getClass().getClassLoader(), new Class<?>[] { ScheduledExecutorService.class },
			(proxy, method, arguments) -> {
				this.looks.add((Runnable) arguments[0]);
				return null;
			});

	private final CallbackThreads threads = new CallbackThreads(this.pool, this.timer);

	private final CountDownLatch end = new CountDownLatch(1);

	@AfterEach
	void end() {
		this.end.countDown();
		this.pool.shutdown();
	}

	@Test
	void looksAgainAfterALookThatGotNoThread() {
		CountDownLatch blocked = new CountDownLatch(FEW);
		for (int i = 0; i < FEW; i++) {
			this.threads.execute(() -> block(blocked));
		}
		Patience.await(blocked, "the few");
		this.threads.execute(this::block);
		this.lacking.set(true);
		this.looks.remove().run();
		assertThatThrownBy(() -> this.looks.remove().run()).isInstanceOf(OutOfMemoryError.class);
		this.lacking.set(false);
		for (int i = 0; i < 10 * FEW; i++) {
			this.threads.execute(this::block);
		}
		assertThat(this.pool.getQueue()).as("wait for those that block").isNotEmpty();
		assertThat(this.looks).as("looks that are scheduled").isNotEmpty();
	}

	/**
	 * Each task blocks for as long as it takes to look three times; one of them ends before
	 * each look.
	 */
	@Test
	void manyThatBlockForAWhileGetMoreThreads() throws InterruptedException {
		int tasks = 40;
		AtomicInteger begun = new AtomicInteger();
		java.util.concurrent.Semaphore ends = new java.util.concurrent.Semaphore(0);
		for (int i = 0; i < tasks; i++) {
			this.threads.execute(() -> {
				begun.incrementAndGet();
				ends.acquireUninterruptibly();
			});
		}
		org.awaitility.Awaitility.await("the few").until(() -> begun.get() == FEW);
		for (int look = 1; look <= 20; look++) {
			int now = begun.get();
			ends.release();
			org.awaitility.Awaitility.await("the next begins").until(() -> begun.get() > now);
			this.looks.remove().run();
		}
		ends.release(tasks);
		assertThat(this.pool.getLargestPoolSize()).as("threads, while a queue of blocking tasks stands")
			.isGreaterThan(FEW);
	}

	private void block() {
		Patience.await(this.end, "the end of the test");
	}

	private void block(CountDownLatch blocked) {
		blocked.countDown();
		block();
	}

}
