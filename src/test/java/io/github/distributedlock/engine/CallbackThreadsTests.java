package io.github.distributedlock.engine;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.engine.EngineThreads.CallbackThreads;
import io.github.distributedlock.fixtures.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Code of the application gets a few threads, and more only while some of that code waits
 * for those. The timer looks when a test lets it.
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

	/**
	 * One for each callback that has begun, oldest first. A callback runs until the test
	 * counts its latch down.
	 */
	private final List<CountDownLatch> running = new CopyOnWriteArrayList<>();

	private volatile boolean over;

	CallbackThreadsTests() {
		this.pool.allowCoreThreadTimeOut(true);
	}

	@AfterEach
	void end() {
		this.over = true;
		endAll();
		this.pool.shutdown();
	}

	@Test
	void noneWaitsForOthersThatBlock() {
		blockAll(10 * FEW);
		endAll();
		Awaitility.await("all have ended").until(() -> this.pool.getActiveCount() == 0);
		look();
		Awaitility.await("only a few again").until(() -> this.pool.getPoolSize() <= FEW);
		assertThat(this.pool.getCorePoolSize()).isEqualTo(FEW);
		assertThat(this.looks).as("looks that nobody needs").isEmpty();
	}

	/**
	 * Once no callback is queued any more, there may be only a few threads again; blocked
	 * threads do not end for that.
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

	/**
	 * Tasks are queued at each look, but no thread is inside the same one at two.
	 */
	@Test
	void fewAreEnoughForTasksThatEnd() {
		block(10 * FEW);
		untilBegun(FEW);
		for (int i = 1; i < 10; i++) {
			look();
			endAll();
			untilBegun((i + 1) * FEW);
			block(FEW);
		}
		assertThat(this.pool.getLargestPoolSize()).isEqualTo(FEW);
	}

	/**
	 * All threads but one are inside the same tasks, but all that is queued has begun
	 * before the next look. A machine that has no time for them looks like that.
	 */
	@Test
	void fewAreEnoughWhileTheQueueDoesNotStand() {
		block(FEW + 1);
		untilBegun(FEW);
		for (int i = 1; i < 10; i++) {
			look();
			this.running.remove(FEW - 1).countDown();
			untilBegun(FEW + i);
			block(1);
		}
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
	 * One task ends before each look, and another begins; the others block.
	 */
	@Test
	void thereAreMoreIfTheQueueStandsAlthoughItMoves() {
		block(10 * FEW);
		untilBegun(FEW);
		for (int i = 1; i <= 2; i++) {
			this.running.remove(FEW - 1).countDown();
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
				CountDownLatch end = new CountDownLatch(1);
				this.running.add(end);
				this.begun.incrementAndGet();
				if (!this.over) {
					Patience.await(end, "the end of a task");
				}
			});
		}
	}

	private void endAll() {
		List<CountDownLatch> ended = List.copyOf(this.running);
		this.running.removeAll(ended);
		ended.forEach(CountDownLatch::countDown);
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
			untilBegun(Math.min(threads + Math.max(FEW, threads / 2), tasks));
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
