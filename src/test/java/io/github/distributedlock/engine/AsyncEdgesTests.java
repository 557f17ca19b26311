package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.fixtures.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Events between the steps of requests that no thread waits for: a stop, an executor that
 * runs a task twice or not at all, a node that stalls.
 */
class AsyncEdgesTests extends EngineFixture {

	private static final Duration WAIT = Duration.ofSeconds(5);

	@ParameterizedTest
	@CsvSource({ "false, k", "false, a b", "true, k" })
	void asksForNothingAfterAStop(boolean closes, String keys) {
		CompletableFuture<LockHandle> acquired = this.engine
			.acquireAsync(LockRequest.of(keys.split(" ")).waitTime(WAIT));
		if (closes) {
			this.engine.close();
		}
		this.engine.stop();
		act();
		assertStopped(acquired);
		assertThat(this.backend.steps()).as("after the stop").isEmpty();
	}

	@Test
	void noticesAStopBetweenTwoKeys() {
		AtomicInteger steps = new AtomicInteger();
		AtomicReference<LockEngine> stopped = new AtomicReference<>();
		LockEngine engine = engine((name, task) -> {
			if (name.equals("request") && steps.incrementAndGet() == 2) {
				// The thread for the second key is there only after the stop.
				stopped.get().stop();
			}
			task.run();
		});
		stopped.set(engine);
		CompletableFuture<LockHandle> acquired = engine.acquireAsync(LockRequest.of("a", "b").waitTime(WAIT));
		act();
		assertThat(steps).as("threads for the request").hasValueGreaterThanOrEqualTo(2);
		assertStopped(acquired);
		act();
		assertThat(holderOf("a")).isNull();
		assertThat(holderOf("b")).isNull();
	}

	/**
	 * The executor throws after the task was run or queued.
	 */
	@Test
	void handleStaysOpenIfTheExecutorRunsItsTaskTwice() {
		LockEngine engine = engine((name, task) -> {
			task.run();
			if (name.equals("callback")) {
				task.run();
			}
		});
		CompletableFuture<LockHandle> acquired = engine.acquireAsync(request("k"));
		act();
		assertThat(acquired.join().isHeld()).as("the handle that the application has").isTrue();
		assertThat(events(LockEvent.Acquired.class)).hasSize(1);
	}

	@Test
	void minHoldTimeIsNotForALockThatNobodyTook() {
		AtomicReference<CompletableFuture<LockHandle>> acquired = new AtomicReference<>();
		LockEngine engine = build(LockEngine.builder(this.backend).watchdogTimeout(LEASE).listener((event) -> {
			if (event instanceof LockEvent.Acquired) {
				acquired.get().cancel(false);
			}
		}));
		acquired.set(engine.acquireAsync(LockRequest.of("k").minHoldTime(Duration.ofSeconds(20))));
		act();
		assertThat(acquired.get()).isCancelled();
		assertThat(holderOf("k")).as("blocks others although nobody had it").isNull();
	}

	/**
	 * Each of the four gets no thread, but only after another has been queued.
	 */
	@Test
	void taskBehindThoseThatGetNoThreadRuns() {
		List<String> ran = new CopyOnWriteArrayList<>();
		AtomicInteger begun = new AtomicInteger();
		AtomicReference<NodeTasks> tasks = new AtomicReference<>();
		AtomicReference<Boolean> lacking = new AtomicReference<>(true);
		Executor threads = (task) -> {
			if (!lacking.get()) {
				task.run();
				return;
			}
			if (begun.incrementAndGet() < NodeTasks.MOST_OF_A_NODE) {
				assertThatThrownBy(() -> tasks.get().run("node", () -> ran.add("without a thread")))
					.isInstanceOf(OutOfMemoryError.class);
			}
			else {
				tasks.get().run("node", () -> ran.add("queued"));
			}
			throw new OutOfMemoryError("unable to create native thread (test)");
		};
		tasks.set(new NodeTasks(threads, this.time));
		assertThatThrownBy(() -> tasks.get().run("node", () -> ran.add("without a thread")))
			.isInstanceOf(OutOfMemoryError.class);
		lacking.set(false);
		tasks.get().run("node", () -> ran.add("later"));
		assertThat(ran).containsExactlyInAnyOrder("queued", "later");
	}

	@Test
	void requestThatCannotStandInLineTriesAgain() {
		AtomicReference<Boolean> deep = new AtomicReference<>(true);
		LockEngine engine = engine((name, task) -> {
			if (name.equals("request") && deep.getAndSet(false)) {
				throw new StackOverflowError("test");
			}
			task.run();
		});
		CompletableFuture<LockHandle> first = engine.acquireAsync(waiting("k", WAIT));
		CompletableFuture<LockHandle> next = engine.acquireAsync(waiting("k", WAIT));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(first).isCompleted();
		first.join().close();
		act();
		assertThat(next).as("the next request for the key").isCompleted();
	}

	/**
	 * The thread that completes the future is faster than the calling one.
	 */
	@Test
	void codeNeverRunsOnTheCallingThread() {
		LockEngine engine = engine((name, task) -> {
			if (name.equals("callback")) {
				elsewhere(task);
			}
			else {
				task.run();
			}
			if (name.equals("request")) {
				elsewhere(this::act);
			}
		});
		AtomicReference<Thread> thread = new AtomicReference<>();
		CompletableFuture<String> result = engine.executeAsync(request("k"), () -> {
			thread.set(Thread.currentThread());
			return CompletableFuture.completedFuture("done");
		});
		act();
		assertThat(result).isCompleted();
		assertThat(thread.get()).as("an event loop, perhaps").isNotSameAs(Thread.currentThread());
	}

	/**
	 * Each command takes 2 s and fails; "late by at most the time that the store is given
	 * for a command".
	 */
	@Test
	void deadlineIsKeptBehindRequestsThatMayWaitLonger() {
		Duration command = Duration.ofSeconds(2);
		this.backend.breaks((step) -> {
			this.time.pass(command);
			throw LockBackendException.of("timed out").retryable(true).build();
		});
		for (int i = 0; i < 100; i++) {
			this.engine.acquireAsync(waiting("k" + i, Duration.ofMinutes(10)));
		}
		long start = this.time.nanoTime();
		AtomicReference<Duration> ended = new AtomicReference<>();
		this.engine.acquireAsync(waiting("short", Duration.ofSeconds(1)))
			.whenComplete((handle, failure) -> ended.set(Duration.ofNanos(this.time.nanoTime() - start)));
		this.time.advance(Duration.ofMinutes(5));
		// One thread does here what three do elsewhere: each has a command under way.
		assertThat(ended.get()).isLessThanOrEqualTo(command.multipliedBy(1 + NodeTasks.MOST_OF_A_NODE));
	}

	@Test
	void cancelledRequestLeavesItsQueueAlthoughTheNodeStalls() {
		CountDownLatch stalled = new CountDownLatch(NodeTasks.MOST_OF_A_NODE);
		CountDownLatch answer = new CountDownLatch(1);
		LockEngine real = LockEngine.builder(this.backend).application("real").build();
		try {
			LockHandle own = real.acquire(LockRequest.of("own").detached(true));
			CompletableFuture<LockHandle> waits = real.acquireAsync(waiting("own", Duration.ofMinutes(5)));
			for (int i = 0; i < NodeTasks.MOST_OF_A_NODE; i++) {
				this.backend.before("acquire", () -> {
					stalled.countDown();
					Patience.await(answer, "the end of the test");
				});
			}
			for (int i = 0; i < NodeTasks.MOST_OF_A_NODE; i++) {
				real.acquireAsync(waiting("stalled" + i, Duration.ofMinutes(5)));
			}
			Patience.await(stalled, "the node stalls");
			waits.cancel(false);
			Awaitility.await("the cancelled request has left the queue")
				.atMost(Patience.PATIENCE)
				.until(() -> !real.snapshot().queues().containsKey("own"));
			own.close();
		}
		finally {
			answer.countDown();
			real.close();
		}
	}

	/**
	 * A borrower has the key that was left to a request without a thread. The stop comes
	 * after that request has looked for the turn, and before the request insists.
	 */
	@Test
	void noticesAStopWhileItBeginsToWaitForABorrower() {
		AtomicReference<Boolean> armed = new AtomicReference<>(false);
		AtomicReference<LockEngine> stopped = new AtomicReference<>();
		EngineTime time = before(() -> {
			if (armed.get() && isInside("HandOver", "take")) {
				armed.set(false);
				stopped.get().stop();
			}
		});
		LockEngine engine = build(LockEngine.builder(this.backend).application("us").watchdogTimeout(LEASE), time,
				this.time);
		stopped.set(engine);
		LockHandle first = engine.acquire(LockRequest.of("k").detached(true));
		CompletableFuture<LockHandle> waits = engine.acquireAsync(waiting("k", Duration.ofSeconds(20)));
		act();
		first.close();
		LockHandle borrower = engine.acquire(LockRequest.of("k").detached(true));
		assertThat(borrower.owner()).as("the key that was lent").isEqualTo(first.owner());
		armed.set(true);
		act();
		assertThat(armed.get()).as("not stopped").isFalse();
		assertThat(waits).as("waits for the borrower, although the engine was stopped").isDone();
		assertStopped(waits);
		borrower.close();
		assertThat(holderOf("k")).isNull();
	}

	/**
	 * As {@code execute} does: "those on the calling thread are not waited for".
	 */
	@Test
	void codeThatStopsTheEngineDoesNotWaitForItself() {
		AtomicReference<CompletableFuture<Void>> stop = new AtomicReference<>();
		this.engine.execute(request("blocking"), () -> {
			stop.set(this.engine.stop());
			assertThat(stop.get()).as("execute").isCompleted();
			return true;
		});
		this.engine.start();
		AtomicReference<Boolean> completed = new AtomicReference<>();
		this.engine.executeAsync(request("k"), () -> {
			completed.set(this.engine.stop().isDone());
			return CompletableFuture.completedFuture(true);
		});
		act();
		assertThat(completed.get()).as("executeAsync").isTrue();
	}

	/**
	 * A borrower keeps the key that was left to a request until that has no time left:
	 * the key was busy, and the store has failed nobody.
	 */
	@Test
	void keyThatABorrowerKeepsIsBusy() {
		LockHandle first = this.engine.acquire(LockRequest.of("k").detached(true));
		CompletableFuture<Optional<LockHandle>> waits = this.engine.tryAcquireAsync(waiting("k", WAIT));
		act();
		first.close();
		LockHandle borrower = this.engine.acquire(LockRequest.of("k").detached(true));
		assertThat(borrower.owner()).as("the key that was lent").isEqualTo(first.owner());
		act();
		this.time.advance(WAIT);
		assertThat(waits).isCompletedWithValue(Optional.empty());
		borrower.close();
	}

	private LockEngine engine(BiConsumer<String, Runnable> way) {
		return build(
				LockEngine.builder(this.backend).application("us").watchdogTimeout(LEASE).listener(this.events::add),
				this.time, workers(way));
	}

	private static void assertStopped(CompletableFuture<LockHandle> acquired) {
		assertFails(acquired, LockBackendException.class, "stopped");
	}

}
