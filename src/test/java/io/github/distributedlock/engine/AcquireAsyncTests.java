package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockNotAcquiredException;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests that no thread waits for, on the fake clock: what they do is done when time is
 * moved.
 */
class AcquireAsyncTests extends EngineFixture {

	private static final Duration WAIT = Duration.ofSeconds(5);

	@Test
	void acquiresAFreeKey() {
		CompletableFuture<LockHandle> acquired = this.engine.acquireAsync(request("k"));
		assertThat(acquired).as("before a thread asks").isNotDone();
		act();
		LockHandle handle = acquired.join();
		assertThat(handle.isHeld()).isTrue();
		assertThat(LockHandle.current()).isEmpty();
		assertThat(this.backend.steps()).containsExactly("acquire k");
		handle.closeAsync();
		assertThat(holderOf("k")).isNull();
		assertThat(events(LockEvent.Acquired.class)).hasSize(1);
	}

	@Test
	void waitsForAKeyOfThisJvm() {
		LockHandle first = this.engine.acquire("k");
		CompletableFuture<LockHandle> second = this.engine.acquireAsync(waiting("k", WAIT));
		act();
		assertThat(second).isNotDone();
		assertThat(this.engine.requestsWaiting()).isOne();
		first.close();
		act();
		assertThat(second.join().owner()).isEqualTo(first.owner());
		assertThat(this.engine.requestsWaiting()).isZero();
		second.join().close();
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void waitsForAKeyOfAnotherJvm() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> acquired = this.engine.acquireAsync(waiting("k", WAIT));
		act();
		assertThat(acquired).isNotDone();
		releasedElsewhere("k");
		act();
		assertThat(acquired).isCompleted();
	}

	@Test
	void failsWhenTheKeyWasBusyForAllThatTime() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> acquired = this.engine.acquireAsync(waiting("k", WAIT));
		CompletableFuture<Optional<LockHandle>> tried = this.engine.tryAcquireAsync(waiting("k", WAIT));
		this.time.advance(WAIT.minusMillis(1));
		assertThat(acquired).isNotDone();
		assertThat(tried).isNotDone();
		this.time.advance(Duration.ofMillis(1));
		assertThat(acquired).failsWithin(Duration.ZERO)
			.withThrowableThat()
			.withCauseInstanceOf(LockNotAcquiredException.class);
		assertThat(tried.join()).isEmpty();
		assertThat(hasQueues()).isFalse();
		assertThat(events(LockEvent.NotAcquired.class)).hasSize(2);
	}

	@Test
	void withdrawsWhenItIsCancelled() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> cancelled = this.engine.acquireAsync(waiting("k", WAIT));
		CompletableFuture<LockHandle> next = this.engine.acquireAsync(waiting("k", WAIT));
		act();
		cancelled.cancel(false);
		act();
		assertThat(this.engine.requestsWaiting()).isOne();
		releasedElsewhere("k");
		act();
		assertThat(next).isCompleted();
		next.join().close();
		assertThat(hasQueues()).isFalse();
		assertThat(holderOf("k")).isNull();
	}

	private void act() {
		this.time.advance(Duration.ZERO);
	}

}
