package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.WaitObserver;
import io.github.distributedlock.WaitObserver.Observed;
import io.github.distributedlock.fixtures.Allocations;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link WaitObserver}s.
 */
class WaitObserverTests extends EngineFixture {

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

	private <T> CompletableFuture<T> ended(CompletableFuture<T> future) {
		this.time.advance(Duration.ZERO);
		return future;
	}

	@Test
	void makesNothingWhereNobodyObserves() {
		LockRequest request = LockRequest.of("k");
		ObservedWaits none = new ObservedWaits(null);
		assertThat(Allocations.perCall(() -> none.begin(request))).isZero();
		ObservedWaits uninterested = new ObservedWaits((any) -> null);
		assertThat(Allocations.perCall(() -> uninterested.begin(request))).isZero();
	}

}
