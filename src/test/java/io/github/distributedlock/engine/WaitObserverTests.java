package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.WaitObserver;
import io.github.distributedlock.WaitObserver.Observed;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.fixtures.Allocations;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class WaitObserverTests extends EngineFixture {

	private final List<String> ends = new CopyOnWriteArrayList<>();

	@Test
	void harmsNoRequestIfItFailsAtTheBegin() {
		observed((request) -> {
			throw new AssertionError("at the begin");
		});
	}

	@Test
	void harmsNoRequestIfItFailsAtTheEnd() {
		AtomicInteger ends = new AtomicInteger();
		observed((request) -> new Observed() {

			@Override
			public void acquired(String holder) {
				fail();
			}

			@Override
			public void busy(String holder) {
				fail();
			}

			@Override
			public void failed(Throwable failure) {
				fail();
			}

			private void fail() {
				ends.incrementAndGet();
				throw new AssertionError("at the end");
			}

		});
		assertThat(ends).hasValue(4);
	}

	private void observed(WaitObserver observer) {
		LockEngine observed = build(LockEngine.builder(this.store).waitObserver(observer));
		LockHandle handle = observed.acquire("k");
		assertThat(handle.isHeld()).isTrue();
		handle.close();
		assertThat(ended(observed.acquireAsync(LockRequest.of("k")))).isCompleted()
			.satisfies((acquired) -> acquired.join().close());
		ownedElsewhere("k", LEASE);
		assertThat(observed.tryAcquire("k")).isEmpty();
		assertThat(ended(observed.tryAcquireAsync(LockRequest.of("k")))).isCompletedWithValue(Optional.empty());
		releasedElsewhere("k");
		assertThat(observed.snapshot().holds()).isEmpty();
	}

	/**
	 * The alarm of the second request would not ring if the observer of the first one
	 * were told on the thread of the alarms.
	 */
	@Test
	void mayBlockAtTheEndOfARequestWithoutAThread() {
		CountDownLatch ends = new CountDownLatch(2);
		WaitObserver blocking = (request) -> new Ends() {

			@Override
			public void busy(String holder) {
				ends.countDown();
				Patience.await(ends, "the end of the other request");
				super.busy(holder);
			}

		};
		InMemoryLockBackend store = new InMemoryLockBackend();
		store.acquire(Claim.of("k", "other#1:1", "other#1", Duration.ofMinutes(10)));
		LockEngine observed = LockEngine.builder(store).waitObserver(blocking).build();
		try {
			CompletableFuture<Optional<LockHandle>> first = observed.tryAcquireAsync(soon());
			CompletableFuture<Optional<LockHandle>> second = observed.tryAcquireAsync(soon());
			assertThat(first).succeedsWithin(PATIENCE).isEqualTo(Optional.empty());
			assertThat(second).succeedsWithin(PATIENCE).isEqualTo(Optional.empty());
			assertThat(this.ends).hasSize(2);
		}
		finally {
			observed.close();
		}
	}

	private static LockRequest soon() {
		return waiting("k", Duration.ofMillis(20));
	}

	@Test
	void isToldOfAFailureIfAFutureIsCancelledJustBeforeItIsCompleted() {
		List<CompletableFuture<?>> futures = new ArrayList<>();
		LockEngine observed = build(LockEngine.builder(this.store)
			.waitObserver((request) -> new Ends())
			.contextCapture(() -> (task) -> () -> {
				futures.forEach((future) -> future.cancel(false));
				task.run();
			}));
		futures.add(observed.acquireAsync(LockRequest.of("k")));
		this.time.advance(Duration.ZERO);
		assertThat(this.ends).containsExactly("failed CancellationException");
		assertThat(observed.snapshot().holds()).isEmpty();
	}

	@Test
	void isToldOfTheLastHolderOfAnyKey() {
		LockEngine observed = build(LockEngine.builder(this.store).waitObserver((request) -> new Ends()));
		ownedElsewhere("a", LEASE);
		CompletableFuture<LockHandle> handle = observed
			.acquireAsync(LockRequest.of("a", "b").waitTime(Duration.ofSeconds(5)));
		this.time.advance(Duration.ofSeconds(1));
		releasedElsewhere("a");
		this.time.advance(Duration.ofSeconds(1));
		assertThat(handle).isCompleted();
		assertThat(this.ends).containsExactly("acquired other#1:1");
		handle.join().close();
	}

	@Test
	void aContextThatCannotBeCapturedHarmsNoRequest() {
		LockEngine withContext = build(LockEngine.builder(this.store).contextCapture(() -> {
			throw new AssertionError("while it captures");
		}));
		assertThat(ended(withContext.acquireAsync(LockRequest.of("k")))).isCompleted()
			.satisfies((acquired) -> acquired.join().close());
	}

	@Test
	void contextThatCannotBeSetHarmsNoRequest() {
		LockEngine withContext = build(LockEngine.builder(this.store).contextCapture(() -> (task) -> () -> {
			throw new AssertionError("while it sets");
		}));
		CompletableFuture<LockHandle> acquired = withContext.acquireAsync(LockRequest.of("k"));
		assertThat(ended(acquired.thenAcceptAsync(LockHandle::close, acquired.defaultExecutor()))).isCompleted();
		assertThat(withContext.snapshot().holds()).isEmpty();
	}

	private <T> CompletableFuture<T> ended(CompletableFuture<T> future) {
		this.time.advance(Duration.ZERO);
		return future;
	}

	@Test
	void makesNothingWhereNobodyObserves() {
		LockRequest request = LockRequest.of("k");
		Wait wait = new Wait(this.time, Duration.ZERO, false);
		assertThat(Allocations.perCall(() -> ends(wait, null, request))).isZero();
		assertThat(Allocations.perCall(() -> ends(wait, (any) -> null, request))).isZero();
	}

	private static boolean ends(Wait wait, WaitObserver observer, LockRequest request) {
		wait.beginObservation(observer, request);
		wait.end(true);
		return wait.isObserved();
	}

	/**
	 * Notes how waits have ended.
	 */
	private class Ends implements Observed {

		@Override
		public void acquired(String holder) {
			WaitObserverTests.this.ends.add("acquired " + holder);
		}

		@Override
		public void busy(String holder) {
			WaitObserverTests.this.ends.add("busy " + holder);
		}

		@Override
		public void failed(Throwable failure) {
			WaitObserverTests.this.ends.add("failed " + failure.getClass().getSimpleName());
		}

	}

}
