package io.github.distributedlock;

import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.LockEngine;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class CurrentLockTests {

	private final LockEngine engine = LockEngine.builder(new InMemoryLockBackend()).build();

	@AfterEach
	void close() {
		this.engine.close();
	}

	@Test
	void handleIsCurrentOnTheThreadThatAcquiredItOnly() {
		try (LockHandle handle = this.engine.acquire("k")) {
			assertThat(LockHandle.current()).containsSame(handle);
			assertThat(CompletableFuture.supplyAsync(LockHandle::current).join()).isEmpty();
		}
	}

	@Test
	void bindingHandsAHandleToAnotherThreadUntilItIsClosed() {
		try (LockHandle handle = this.engine.acquire("k")) {
			CompletableFuture.runAsync(() -> {
				try (CurrentLock binding = CurrentLock.bind(handle)) {
					assertThat(LockHandle.current()).containsSame(handle);
				}
				assertThat(LockHandle.current()).isEmpty();
			}).join();
			assertThat(handle.isHeld()).isTrue();
		}
	}

	@Test
	void bindingThatAnotherThreadEndsIsPassedOver() {
		LockHandle outer = this.engine.acquire("outer");
		LockHandle inner = this.engine.acquire("inner");
		CompletableFuture.runAsync(inner::close).join();
		assertThat(CurrentLock.all()).containsExactly(outer);
		assertThat(LockHandle.current()).containsSame(outer);
		outer.close();
		assertThat(CurrentLock.all()).isEmpty();
	}

	@Test
	void unbindingTakesAwayOneHandleAndReleasesNothing() {
		try (LockHandle outer = this.engine.acquire("outer"); LockHandle inner = this.engine.acquire("inner")) {
			CurrentLock.unbind(outer);
			assertThat(CurrentLock.all()).containsExactly(inner);
			assertThat(outer.isHeld()).isTrue();
		}
	}

}
