package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The line of a node of the store: the requests without a thread that stand there, their
 * places and times, and the thread that asks.
 */
class AsyncLinesTests extends EngineFixture {

	private static final Duration WAIT = Duration.ofSeconds(20);

	private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(2);

	/**
	 * More than the least time for which a request stands in line, and less than the
	 * requests in front take.
	 */
	private static final Duration PATIENCE_OF_A_REQUEST = Duration.ofSeconds(15);

	/**
	 * The turn comes after the driver has found that the request has no turn and so may
	 * not ask the store, and before the request goes on.
	 */
	@Test
	void turnThatComesAsItBeginsDoesNotLetTheCallingThreadAsk() {
		AtomicReference<LockHandle> first = new AtomicReference<>();
		AtomicBoolean armed = new AtomicBoolean();
		LockEngine engine = build(settings(), before(() -> {
			if (isInside("AsyncDriver", "step") && armed.getAndSet(false)) {
				elsewhere(first.get()::close);
				this.backend.forgetSteps();
			}
		}), this.time);
		first.set(engine.acquire(LockRequest.of("k").fenced(true).detached(true)));
		armed.set(true);
		CompletableFuture<LockHandle> second = engine.acquireAsync(waiting("k", WAIT).fenced(true));
		assertThat(armed).as("the turn has not come").isFalse();
		assertThat(this.backend.steps()).as("asked by the calling thread, perhaps an event loop").isEmpty();
		act();
		assertThat(second).isCompleted();
	}

	/**
	 * The request has the first key, and does not wait for the second one, but stands in
	 * line for that one behind all requests of a node that does not answer.
	 */
	@Test
	void requestOfSeveralKeysThatMayNotWaitEndsInItsPatience() {
		CompletableFuture<Optional<LockHandle>> asked = this.engine
			.tryAcquireAsync(LockRequest.of("node-a1", "node-b"));
		AtomicReference<Duration> ended = ended(asked);
		for (int i = 0; i < 100; i++) {
			this.engine.acquireAsync(waiting("node-b" + i, Duration.ofMinutes(60)));
		}
		this.backend.breaks((step) -> {
			if (this.backend.steps().get(this.backend.steps().size() - 1).contains("node-a")) {
				return step.get();
			}
			throw timedOut();
		});
		this.time.advance(Duration.ofMinutes(10));
		assertThat(asked).isDone();
		assertThat(ended.get()).isLessThan(PATIENCE_OF_A_REQUEST);
	}

	@Test
	void requestThatWaitedForABorrowerEndsInItsPatience() {
		LockHandle first = this.engine.acquire(LockRequest.of("k").detached(true));
		CompletableFuture<Optional<LockHandle>> waits = this.engine
			.tryAcquireAsync(waiting("k", Duration.ofSeconds(1)));
		act();
		first.close();
		LockHandle borrower = this.engine.acquire(LockRequest.of("k").detached(true));
		act();
		AtomicReference<Duration> ended = ended(waits);
		this.backend.breaks((step) -> {
			throw timedOut();
		});
		for (int i = 0; i < 100; i++) {
			this.engine.acquireAsync(waiting("other" + i, Duration.ofMinutes(60)));
		}
		this.time.advance(Duration.ofMinutes(10));
		assertThat(waits).isDone();
		assertThat(ended.get()).isLessThan(PATIENCE_OF_A_REQUEST);
		borrower.close();
	}

	/**
	 * Two other nodes stall, so that the only thread that is left for a third one stands
	 * in the queue of the pool, and not in the line of a node.
	 */
	@Test
	void deadlineIsKeptAlsoIfThePoolHasNoThread() {
		AtomicBoolean stalls = new AtomicBoolean(true);
		List<Runnable> held = new ArrayList<>();
		LockEngine engine = build(settings(), this.time, workers((name, task) -> {
			if (name.equals("request") && stalls.get()) {
				held.add(task);
			}
			else {
				task.run();
			}
		}));
		CompletableFuture<Optional<LockHandle>> tried = engine.tryAcquireAsync(request("k"));
		this.time.advance(PATIENCE_OF_A_REQUEST);
		assertThat(tried).isCompletedExceptionally();
		stalls.set(false);
		held.forEach(Runnable::run);
		act();
		assertThat(this.backend.steps()).as("asked for after its end").isEmpty();
	}

	/**
	 * A key that another JVM gives back is reserved for a moment only.
	 */
	@Test
	void wokenRequestDoesNotStandBehindABurst() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> waits = this.engine.acquireAsync(waiting("k", WAIT));
		act();
		List<CompletableFuture<Optional<LockHandle>>> burst = new ArrayList<>();
		for (int i = 0; i < 1_000; i++) {
			burst.add(this.engine.tryAcquireAsync(request("burst" + i)));
		}
		AtomicInteger before = new AtomicInteger(-1);
		waits.thenRun(() -> before.set((int) burst.stream().filter(CompletableFuture::isDone).count()));
		releasedElsewhere("k");
		act();
		assertThat(waits).isCompleted();
		assertThat(burst).allMatch(CompletableFuture::isDone);
		assertThat(before).as("served before it").hasValueBetween(0, 10);
	}

	/**
	 * A reader asks out of turn, and queues up only then.
	 */
	@Test
	void readerThatQueuesUpAfterAStopNoticesIt() {
		ownedElsewhere("k", LEASE);
		LockHandle inside = this.engine.acquire("outer");
		LockRequest reading = waiting("k", WAIT).mode(LockMode.SHARED);
		CompletableFuture<LockHandle> served = this.engine.acquireAsync(reading);
		act();
		CompletableFuture<LockHandle> refused = Patience.get(inThread(() -> this.engine.acquireAsync(reading)),
				"a request from another thread");
		this.backend.before("acquire", () -> this.engine.stop());
		// This thread is in no lock.
		elsewhere(this::act);
		assertThat(refused).isCompletedExceptionally();
		assertThat(served).as("made inside a lock").isNotDone();
		served.cancel(false);
		inside.close();
	}

	/**
	 * The lock is there before the code is registered. The executor runs the task, and
	 * then throws, so that the task is run again.
	 */
	@Test
	void codeIsCalledOnceThoughTheExecutorRunsItsTaskTwice() {
		LockEngine engine = build(settings(), this.time, workers((name, task) -> {
			if (name.equals("callback")) {
				elsewhere(task);
				elsewhere(task);
			}
			else {
				task.run();
			}
			if (name.equals("request")) {
				elsewhere(this::act);
			}
		}));
		CompletableFuture<String> stage = new CompletableFuture<>();
		AtomicInteger calls = new AtomicInteger();
		CompletableFuture<String> result = engine.executeAsync(request("k"), () -> {
			calls.incrementAndGet();
			return stage;
		});
		act();
		assertThat(calls).as("calls of the code").hasValue(1);
		stage.complete("done");
		assertThat(result).isCompletedWithValue("done");
	}

	@Test
	void codeIsNotCalledOnTheCallingThreadIfThereIsNoOther() {
		AtomicInteger callbacks = new AtomicInteger();
		LockEngine engine = build(settings(), this.time, workers((name, task) -> {
			if (name.equals("callback") && callbacks.incrementAndGet() == 2) {
				throw new OutOfMemoryError("unable to create native thread (test)");
			}
			if (name.equals("callback")) {
				elsewhere(task);
			}
			else {
				task.run();
			}
			if (name.equals("request")) {
				elsewhere(this::act);
			}
		}));
		AtomicBoolean called = new AtomicBoolean();
		CompletableFuture<Boolean> result = engine.executeAsync(request("k"), () -> {
			called.set(true);
			return CompletableFuture.completedFuture(true);
		});
		act();
		assertThat(result).isCompletedExceptionally();
		assertThat(called).isFalse();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void contextThatFailsCostsNoLock() {
		LockEngine engine = build(settings().contextCapture(() -> (task) -> {
			throw new IllegalStateException("a context that fails (test)");
		}));
		CompletableFuture<LockHandle> acquired = engine.acquireAsync(request("k"));
		act();
		assertThat(acquired).isCompleted();
		acquired.join().close();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void errorBeforeTheEndCostsNoLock() {
		LockEngine engine = build(settings().listener(this.events::add), before(() -> {
			if (isInside("Acquirer", "publish")) {
				throw new StackOverflowError("test");
			}
		}), this.time);
		CompletableFuture<LockHandle> acquired = engine.acquireAsync(request("k"));
		act();
		assertThat(acquired).isCompletedExceptionally();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void stopDoesNotWaitForALockThatCouldNotBeGivenBack() {
		AtomicBoolean fails = new AtomicBoolean(true);
		LockEngine engine = build(settings(), this.time, workers((name, task) -> {
			if (name.equals("background") && fails.getAndSet(false)) {
				throw new StackOverflowError("test");
			}
			task.run();
		}));
		AtomicReference<CompletableFuture<LockHandle>> acquired = new AtomicReference<>();
		this.backend.after("acquire", () -> acquired.get().cancel(false));
		acquired.set(engine.acquireAsync(request("k").awaitedOnStop(true)));
		act();
		assertThat(fails).as("not given back").isFalse();
		assertThat(engine.stop()).isCompleted();
	}

	private LockEngine.Builder settings() {
		return LockEngine.builder(this.backend).application("us").watchdogTimeout(LEASE);
	}

	private AtomicReference<Duration> ended(CompletableFuture<?> future) {
		AtomicReference<Duration> ended = new AtomicReference<>();
		long begin = this.time.nanoTime();
		future.whenComplete((value, failure) -> ended.set(Duration.ofNanos(this.time.nanoTime() - begin)));
		return ended;
	}

	private LockBackendException timedOut() {
		this.time.pass(COMMAND_TIMEOUT);
		return LockBackendException.of("timed out").retryable(true).build();
	}

}
