package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.AcquireResult;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the fencing tokens of {@link LockEngine}.
 */
class FencingTests extends EngineFixture {

	private static final LockRequest FENCED = request("k").fenced(true);

	@Test
	void tokensGrowWithEachAcquisition() {
		long last = 0;
		for (int i = 0; i < 10; i++) {
			try (LockHandle handle = this.engine.acquire(FENCED)) {
				long token = handle.fencingToken().orElseThrow();
				assertThat(token).isGreaterThan(last);
				last = token;
			}
		}
	}

	@Test
	void whoWaitedHasAGreaterTokenThanWhoHeld() {
		LockEngine other = engine(this.store, "other");
		LockHandle held = other.acquire(FENCED);
		CompletableFuture<LockHandle> acquiring = acquiring(FENCED.waitTime(Duration.ofSeconds(5)));
		held.close();
		assertThat(acquiring.join().fencingToken().orElseThrow()).isGreaterThan(held.fencingToken().orElseThrow());
	}

	@Test
	void whoDoesNotAskGetsNone() {
		assertThat(this.engine.acquire("k").fencingToken()).isEmpty();
	}

	@Test
	void innerRequestHasTheTokenOfTheOuterOne() {
		LockHandle outer = this.engine.acquire(FENCED);
		assertThat(this.engine.acquire(FENCED).fencingToken()).isEqualTo(outer.fencingToken());
		assertThat(this.engine.acquire("k").fencingToken()).isEqualTo(outer.fencingToken());
		assertThat(this.backend.steps()).hasSize(1);
	}

	@Test
	void handleOfSeveralKeysHasNoToken() {
		LockHandle outer = this.engine.acquire(FENCED);
		assertThat(this.engine.acquire(LockRequest.of("k", "other")).fencingToken()).isEmpty();
		assertThat(outer.fencingToken()).isPresent();
	}

	@Test
	void fencedRequestDoesNotReenterALockWithoutAToken() {
		LockHandle outer = this.engine.acquire("k");
		assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> this.engine.acquire(FENCED))
			.withMessage("Lock 'k' was requested as fenced, but this thread holds it without a fencing token already."
					+ " Request the outer lock as fenced, too");
		outer.close();
		assertThat(holderOf("k")).as("not re-entered, so released").isNull();
		assertThat(this.engine.acquire(FENCED).fencingToken()).isPresent();
	}

	@Test
	void severalKeysAreRefusedBeforeAnyIo() {
		assertThatExceptionOfType(IllegalArgumentException.class)
			.isThrownBy(() -> this.engine.acquire(LockRequest.of("a", "b").fenced(true)))
			.withMessageContaining("Lock [a, b] was requested as fenced, but a fencing token is of one key");
		assertThat(this.backend.steps()).isEmpty();
	}

	@Test
	void tokenThatComesAfterTheDeadlineIsNotUsed() {
		this.backend.after("acquire", () -> this.time.advance(Duration.ofSeconds(2)));
		LockRequest request = FENCED.leaseTime(Duration.ofSeconds(1));
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.tryAcquire(request))
			.withMessageContaining("the answer took longer than the lease");
	}

	@Test
	void requestWhoseReplyWasLostGetsAnotherToken() {
		this.backend.next("acquire", ScriptedBackend.LOST_REPLY);
		CompletableFuture<LockHandle> acquiring = acquiring(FENCED.waitTime(Duration.ofSeconds(2)));
		this.time.advance(Duration.ofMillis(25));
		assertThat(acquiring.join().fencingToken()).isPresent();
	}

	@Test
	void storeWithoutTokensIsAnErrorAndLeavesNothingBehind() {
		this.backend.next("acquire", (step) -> {
			step.get();
			return AcquireResult.ACQUIRED;
		});
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.acquire(FENCED))
			.withMessageContaining("Lock 'k' was requested as fenced, but")
			.withMessageContaining("ScriptedBackend gave no fencing token");
		this.time.advance(Duration.ZERO);
		assertThat(holderOf("k")).isNull();
		this.backend.next("acquire", (step) -> AcquireResult.BUSY);
		this.backend.next("register", (step) -> AcquireResult.ACQUIRED);
		CompletableFuture<LockHandle> acquiring = inThread(() -> this.engine.acquire(FENCED));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(acquiring::join)
			.withCauseInstanceOf(LockBackendException.class);
	}

}
