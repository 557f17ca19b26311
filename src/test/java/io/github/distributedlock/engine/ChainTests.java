package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.internal.Binding;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The requests of a reactive chain to the engine.
 */
class ChainTests extends EngineFixture {

	@Test
	void chainReentersWhatItHolds() {
		LockHandle outer = acquired(request("k"));
		CompletableFuture<LockHandle> inner = Binding.inChain(List.of(outer),
				() -> this.engine.acquireAsync(request("k")));
		assertThat(inner).as("without asking the store").isCompleted();
		assertThat(this.engine.requestsWaiting()).isZero();
		outer.close();
		assertThat(inner.join().isHeld()).isTrue();
		inner.join().close();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void threadDoesNotReenterWhatItHoldsItself() {
		try (LockHandle outer = this.engine.acquire(request("k"))) {
			CompletableFuture<LockHandle> inner = this.engine.acquireAsync(waiting("k", Duration.ZERO));
			this.time.advance(Duration.ofMillis(1));
			assertThat(inner).isCompletedExceptionally();
		}
	}

	@Test
	void chainIsRefusedWhatTheStoreDoesNotOfferAsAThreadIs() {
		this.backend.exclusiveOnly();
		LockHandle outer = acquired(request("k"));
		CompletableFuture<LockHandle> inner = Binding.inChain(List.of(outer),
				() -> this.engine.acquireAsync(request("k").fair(true)));
		assertFails(inner, LockBackendException.class, "does not offer");
		assertThat(outer.isHeld()).isTrue();
		outer.close();
		assertThat(holderOf("k")).as("what was refused keeps nothing").isNull();
	}

	/**
	 * The chain must be able to end what it has begun, as a thread inside a lock.
	 */
	@Test
	void chainInsideALockIsServedDuringAStop() {
		LockHandle outer = acquired(request("outer"));
		this.engine.stop();
		CompletableFuture<LockHandle> inner = Binding.inChain(List.of(outer),
				() -> this.engine.acquireAsync(request("inner")));
		this.time.advance(Duration.ZERO);
		assertThat(inner).isCompleted();
	}

	@Test
	void lockThatNobodyUsedIsNotParked() {
		LockHandle handle = acquired(request("k").minHoldTime(Duration.ofSeconds(20)));
		handle.undo();
		this.time.advance(Duration.ZERO);
		assertThat(handle.isClosed()).isTrue();
		assertThat(holderOf("k")).isNull();
	}

	private LockHandle acquired(LockRequest request) {
		CompletableFuture<LockHandle> acquired = this.engine.acquireAsync(request);
		this.time.advance(Duration.ZERO);
		assertThat(acquired).isCompleted();
		return acquired.join();
	}

}
