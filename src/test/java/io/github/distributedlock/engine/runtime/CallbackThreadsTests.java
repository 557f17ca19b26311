package io.github.distributedlock.engine.runtime;

import java.lang.reflect.Proxy;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.fixtures.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Code of the application gets a few threads, and more only while some of it waits for
 * those. The timer looks when a test lets it.
 */
class CallbackThreadsTests {

	private static final int FEW = CallbackThreads.FEW;

	private final AtomicBoolean noThread = new AtomicBoolean();

	private final ThreadPoolExecutor pool = new ThreadPoolExecutor(FEW, FEW, 1, TimeUnit.SECONDS,
			new LinkedBlockingQueue<>(), this::thread);

	private final Queue<Runnable> looks = new ConcurrentLinkedQueue<>();

	private final ScheduledExecutorService timer = (ScheduledExecutorService) Proxy.newProxyInstance(
			getClass().getClassLoader(), new Class<?>[] { ScheduledExecutorService.class },
			(proxy, method, arguments) -> {
				this.looks.add((Runnable) arguments[0]);
				return null;
			});

	private final CallbackThreads threads = new CallbackThreads(this.pool, this.timer);

	private final AtomicInteger begun = new AtomicInteger();

	private final Semaphore ends = new Semaphore(0);

	CallbackThreadsTests() {
		this.pool.allowCoreThreadTimeOut(true);
	}

	@AfterEach
	void end() {
		this.ends.release(1_000);
		this.pool.shutdown();
	}

	@Test
	void noneWaitsForOthersThatBlock() {
		blockAll(10 * FEW);
		this.ends.release(10 * FEW);
		Awaitility.await("all have ended").until(() -> this.pool.getActiveCount() == 0);
		look();
		assertThat(this.pool.getCorePoolSize()).as("only a few again").isEqualTo(FEW);
		assertThat(this.looks).as("looks that nobody needs").isEmpty();
	}

	/**
	 * When none is queued any more, there may be only a few threads again; those that
	 * block do not end for that.
	 */
	@Test
	void oneThatComesLaterDoesNotWaitForManyThatBlock() {
		blockAll(10 * FEW);
		look();
		block(1);
		look();
		look();
		untilBegun(10 * FEW + 1);
	}

	@Test
	void fewAreEnoughWhileTheQueueDoesNotStand() {
		block(FEW + 1);
		untilBegun(FEW);
		look();
		this.ends.release();
		untilBegun(FEW + 1);
		look();
		assertThat(this.pool.getLargestPoolSize()).isEqualTo(FEW);
	}

	@Test
	void thereAreNoMoreThanTasks() {
		block(FEW + 1);
		untilBegun(FEW);
		look();
		look();
		untilBegun(FEW + 1);
		assertThat(this.pool.getLargestPoolSize()).isEqualTo(FEW + 1);
	}

	/**
	 * One task ends before each look, and another begins.
	 */
	@Test
	void thereAreMoreIfTheQueueStandsAlthoughItMoves() {
		block(10 * FEW);
		untilBegun(FEW);
		for (int i = 1; i <= 2; i++) {
			this.ends.release();
			untilBegun(FEW + i);
			look();
		}
		assertThat(this.pool.getLargestPoolSize()).isGreaterThan(FEW);
	}

	@Test
	void looksAgainAfterALookThatGotNoThread() {
		block(FEW + 1);
		untilBegun(FEW);
		look();
		this.noThread.set(true);
		assertThatThrownBy(this::look).isInstanceOf(OutOfMemoryError.class);
		this.noThread.set(false);
		look();
		look();
		untilBegun(FEW + 1);
	}

	@Test
	void afterTheEndNoneWaitsEither() {
		block(10 * FEW);
		untilBegun(FEW);
		this.threads.shutdown();
		untilBegun(10 * FEW);
	}

	private Thread thread(Runnable task) {
		if (this.noThread.get()) {
			throw new OutOfMemoryError("unable to create native thread (test)");
		}
		return new Thread(task);
	}

	private void block(int tasks) {
		for (int i = 0; i < tasks; i++) {
			this.threads.execute(() -> {
				this.begun.incrementAndGet();
				this.ends.acquireUninterruptibly();
			});
		}
	}

	/**
	 * Has so many tasks block, all at the same time.
	 */
	private void blockAll(int tasks) {
		block(tasks);
		untilBegun(FEW);
		for (int threads = FEW; threads < tasks; threads = this.begun.get()) {
			look();
			look();
			untilBegun(Math.min(2 * threads, tasks));
		}
	}

	private void look() {
		Runnable look = this.looks.poll();
		assertThat(look).as("a look that is scheduled").isNotNull();
		look.run();
	}

	private void untilBegun(int tasks) {
		Awaitility.await(tasks + " tasks have begun").until(() -> this.begun.get() == tasks);
	}

}
