package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.internal.Binding;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Contract 15: the requests that a stop refuses, the holds that a stop leaves alone, and
 * those that it waits for.
 */
class StopTests extends EngineFixture {

	private static final Duration PATIENCE = Patience.PATIENCE;

	// Locks that are held during a stop

	@Test
	void whatIsHeldStaysRenewedAndIsGivenBackWhenItEnds() {
		LockHandle handle = this.engine.acquire("k");
		this.engine.stop();
		this.time.advance(LEASE.multipliedBy(3));
		assertThat(handle.isHeld()).isTrue();
		assertThat(holderOf("k")).isEqualTo(Holder.owner(handle.owner()));
		handle.close();
		assertThat(holderOf("k")).isNull();
		assertThat(events(LockEvent.Lost.class)).isEmpty();
		assertThat(events(LockEvent.Released.class)).hasSize(1);
	}

	@Test
	void threadInsideALockReentersItAndTakesOthers() {
		LockHandle outer = this.engine.acquire("k");
		this.engine.stop();
		this.engine.acquire("k").close();
		this.engine.acquire("other").close();
		this.engine.acquire(LockRequest.of("a", "b")).close();
		assertRefused(inThread(() -> this.engine.acquire("other")));
		assertThat(outer.isHeld()).isTrue();
		outer.close();
		assertRefused();
		assertThat(this.backend.steps()).containsExactly("acquire k", "acquire other", "release other", "acquire a",
				"acquire b", "release b", "release a", "release k");
	}

	@Test
	void threadInsideALockGoesOnWaiting() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<Boolean> inside = inThread(() -> {
			try (LockHandle outer = this.engine.acquire("outer"); LockHandle inner = this.engine.acquire("k")) {
				return inner.isHeld() && outer.isHeld();
			}
		});
		untilWaiting(1);
		this.engine.stop();
		releasedElsewhere("k");
		assertThat(inside).succeedsWithin(PATIENCE).isEqualTo(true);
	}

	@Test
	void threadInsideALockGoesOnWaitingForItsTurn() {
		LockHandle held = this.engine.acquire("k");
		CompletableFuture<Boolean> inside = inThread(() -> {
			try (LockHandle outer = this.engine.acquire("outer"); LockHandle inner = this.engine.acquire("k")) {
				return inner.isHeld() && outer.isHeld();
			}
		});
		untilWaiting(1);
		CompletableFuture<LockHandle> outside = inThread(() -> this.engine.acquire("k"));
		untilWaiting(2);
		this.engine.stop();
		assertRefused(outside);
		assertThat(inside).isNotDone();
		held.close();
		assertThat(inside).succeedsWithin(PATIENCE).isEqualTo(true);
		assertThat(this.engine.hasQueues()).isFalse();
	}

	@Test
	void threadThatAHandleIsBoundToIsInsideItsLock() {
		LockHandle detached = this.engine.acquire(request("k").detached(true));
		this.engine.stop();
		assertRefused();
		try (Binding binding = Binding.bind(detached)) {
			this.engine.acquire("other").close();
		}
		assertRefused();
		detached.close();
	}

	/**
	 * The thread may run beside the one that holds the lock.
	 */
	@Test
	void threadThatALockIsOnlyShownToIsNotInsideIt() {
		LockHandle detached = awaited("k");
		try (Binding shown = Binding.show(detached)) {
			assertThat(this.engine.stop()).isNotDone();
			assertRefused();
		}
		detached.close();
	}

	@Test
	void lockOfAnotherEngineIsNoneToBeInside() {
		try (LockHandle other = engine(this.store, "other").acquire("k")) {
			this.engine.stop();
			assertRefused();
		}
	}

	// The end

	@Test
	void closeLeavesWhatIsHeldToRunOutAndRefusesItsThread() {
		LockHandle handle = this.engine.acquire("k");
		this.engine.stop();
		this.engine.close();
		assertThat(handle.isHeld()).isFalse();
		assertThat(lossReasons()).containsExactly(Reason.SHUTDOWN);
		assertRefused();
		handle.close();
		this.engine.close();
		assertThat(holderOf("k")).as("nothing is deleted under it").isEqualTo(Holder.owner(handle.owner()));
		this.time.advance(LEASE);
		assertThat(holderOf("k")).isNull();
		assertThat(this.backend.steps()).containsExactly("acquire k");
		assertThat(events(LockEvent.Lost.class)).hasSize(1);
	}

	@Test
	void closeFailsThoseWhoWaitInsideALock() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> inside = inThread(() -> {
			try (LockHandle outer = this.engine.acquire("outer")) {
				return this.engine.acquire("k");
			}
		});
		untilWaiting(1);
		this.engine.close();
		assertRefused(inside);
	}

	@Test
	void closedEngineIsNotStartedAgain() {
		this.engine.stop();
		this.engine.start();
		assertThat(this.engine.isRunning()).isTrue();
		this.engine.close();
		assertThatIllegalStateException().isThrownBy(this.engine::start)
			.withMessageContainingAll("is closed and cannot be started again", "Build a new one");
		assertThat(this.engine.isRunning()).isFalse();
		assertThat(this.engine.stop()).isDone();
		assertThatIllegalStateException().isThrownBy(this.engine::start);
		assertRefused();
	}

	// Calls that a stop waits for

	@Test
	void stopCompletesWhenTheLastCallHasEndedAndItsLockIsGivenBack() throws Exception {
		CountDownLatch first = new CountDownLatch(1);
		CountDownLatch second = new CountDownLatch(1);
		CompletableFuture<Void> execute = inThread(() -> this.engine.execute("a", () -> {
			Patience.await(first, "the test goes on");
			return null;
		}));
		CompletableFuture<Void> run = inThread(() -> {
			this.engine.run("b", () -> Patience.await(second, "the test goes on"));
			return null;
		});
		Awaitility.await("both run")
			.atMost(PATIENCE)
			.until(() -> this.backend.steps().containsAll(List.of("acquire a", "acquire b")));
		LockHandle byHand = this.engine.acquire("c");
		CompletableFuture<List<String>> stopped = this.engine.stop()
			.thenApply((end) -> List.copyOf(this.backend.steps()));
		first.countDown();
		execute.get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS);
		assertThat(stopped).isNotDone();
		second.countDown();
		run.get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS);
		assertThat(stopped.get(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS)).contains("release a", "release b");
		assertThat(byHand.isHeld()).isTrue();
		byHand.close();
	}

	@Test
	void stopWaitsForACallThatLeftTheThread() {
		LockHandle awaited = this.engine.acquire(request("k").awaitedOnStop(true));
		Binding.unbind(awaited);
		CompletableFuture<Void> stopped = this.engine.stop();
		assertThat(stopped).isNotDone();
		awaited.close();
		assertThat(stopped).isDone();
	}

	@Test
	void callOnTheThreadThatStopsIsNotAwaited() {
		CompletableFuture<Void> stopped = this.engine.execute("k",
				() -> this.engine.execute("other", () -> this.engine.stop()));
		assertThat(stopped).isDone();
		this.engine.start();
		boolean done = this.engine.execute("k", () -> this.engine.stop().isDone());
		assertThat(done).isTrue();
	}

	@Test
	void requestThatIsBeingAnsweredIsAwaitedToo() {
		AtomicReference<CompletableFuture<Void>> stopped = new AtomicReference<>();
		this.backend.after("acquire", () -> {
			stopped.set(this.engine.stop());
			assertThat(stopped.get()).isNotDone();
		});
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.engine.run("k", () -> assertThat(true).as("not run").isFalse()));
		assertThat(stopped.get()).isDone();
	}

	/**
	 * The request has begun, and is not refused yet, when the last hold ends that the
	 * stop waits for.
	 */
	@Test
	void requestThatIsRefusedIsNotAwaited() {
		LockHandle awaited = awaited("k");
		CompletableFuture<Void> stopped = this.engine.stop();
		this.backend.before("check", () -> {
			assertThat(stopped).isNotDone();
			awaited.close();
			assertThat(stopped).isDone();
		});
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.engine.acquire(request("refused").fenced(true).awaitedOnStop(true)));
	}

	@Test
	void callOfTheTimeAfterTheNextStartIsNotAwaited() {
		LockHandle before = awaited("before");
		CompletableFuture<Void> stopped = this.engine.stop();
		this.engine.start();
		LockHandle after = awaited("after");
		CompletableFuture<Void> stoppedAgain = this.engine.stop();
		before.close();
		assertThat(stopped).isDone();
		assertThat(stoppedAgain).isNotDone();
		after.close();
		assertThat(stoppedAgain).isDone();
	}

	/**
	 * Holds of any age, acquired by a thread or without one.
	 */
	@Test
	void whatBeganInsideOfAnAwaitedCallIsAwaited() {
		LockHandle outer = awaited("k");
		CompletableFuture<Void> stopped = this.engine.stop();
		LockHandle middle;
		try (Binding binding = Binding.bind(outer)) {
			middle = awaited("middle");
		}
		this.engine.start();
		LockHandle inner = Binding.inChain(List.of(middle),
				() -> this.engine.acquireAsync(request("middle").awaitedOnStop(true)).join());
		for (LockHandle handle : List.of(outer, middle)) {
			handle.close();
			assertThat(stopped).isNotDone();
		}
		inner.close();
		assertThat(stopped).isDone();
	}

	private LockHandle awaited(String key) {
		return this.engine.acquire(request(key).awaitedOnStop(true).detached(true));
	}

	@Test
	void lockThatIsGivenBackInTheBackgroundIsAwaited() {
		LockHandle awaited = awaited("k");
		CompletableFuture<Void> stopped = this.engine.stop();
		this.backend.before("release", () -> {
			awaited.close();
			assertThat(stopped).isNotDone();
		});
		awaited.closeAsync();
		assertThat(stopped).isDone();
	}

	@Test
	void stopCompletesAtTheLatestWhenTheEngineIsClosed() {
		LockHandle awaited = awaited("k");
		CompletableFuture<Void> first = this.engine.stop();
		CompletableFuture<Void> second = this.engine.stop();
		assertThat(first).isNotDone();
		this.engine.close();
		assertThat(first).isDone();
		assertThat(second).isDone();
		awaited.close();
	}

	private void assertRefused() {
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.tryAcquire("refused"))
			.withMessageContaining("Lock 'refused' cannot be acquired: the lock engine is stopped");
	}

	private static void assertRefused(CompletableFuture<LockHandle> request) {
		assertFails(request, LockBackendException.class, "the lock engine is stopped");
	}

}
