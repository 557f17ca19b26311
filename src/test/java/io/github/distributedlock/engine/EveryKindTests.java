package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Promises of each kind of request: exclusive, fair, shared, and one of several permits.
 */
class EveryKindTests extends EngineFixture {

	private static final Duration LONG = Duration.ofSeconds(20);

	private final LockEngine third = engine(this.store, "third");

	static List<LockRequest> kinds() {
		return List.of(request("k"), request("k").fair(true), request("k").mode(LockMode.SHARED),
				request("k").permits(2));
	}

	/**
	 * Kinds of which two may hold the lock together.
	 */
	static List<LockRequest> together() {
		return kinds().subList(2, 4);
	}

	@ParameterizedTest
	@MethodSource("kinds")
	void requestsThatWaitCostNoMoreThanOne(LockRequest kind) {
		ownedElsewhere("k", LEASE);
		for (int i = 0; i < 20; i++) {
			acquiring(kind.waitTime(LONG));
		}
		this.backend.forgetSteps();
		for (int i = 0; i < 10; i++) {
			int before = this.backend.steps().size();
			this.time.advance(Duration.ofMillis(500));
			Awaitility.await().until(() -> this.backend.steps().size() > before && this.time.waiting() == 20);
		}
		assertThat(this.backend.steps()).hasSizeBetween(10, 15);
	}

	@ParameterizedTest
	@MethodSource("kinds")
	void requestThatGivesUpWithdraws(LockRequest kind) {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> waiter = acquiring(kind.waitTime(Duration.ofSeconds(1)));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(waiter).failsWithin(PATIENCE);
		assertNobodyIsRegistered();
	}

	@ParameterizedTest
	@MethodSource("kinds")
	void stopFailsRequestsThatWait(LockRequest kind) {
		ownedElsewhere("k", LEASE);
		List<CompletableFuture<LockHandle>> waiters = List.of(acquiring(kind.waitTime(LONG)),
				acquiring(kind.waitTime(LONG)));
		this.engine.stop();
		waiters.forEach((waiter) -> assertFails(waiter, LockBackendException.class, "the lock engine is stopped"));
		assertNobodyIsRegistered();
	}

	private void assertNobodyIsRegistered() {
		Awaitility.await().until(() -> !hasQueues());
		assertThat(this.backend.steps()).contains("withdraw k");
		releasedElsewhere("k");
		assertThat(holderOf("k")).isNull();
	}

	@ParameterizedTest
	@MethodSource("kinds")
	void requestWhoseReplyWasLostIsCleanedUp(LockRequest kind) {
		this.backend.next("acquire", ScriptedBackend.LOST_REPLY);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.tryAcquire(kind));
		assertThat(holderOf("k")).isNotNull();
		act();
		assertThat(holderOf("k")).isNull();
	}

	@ParameterizedTest
	@MethodSource("together")
	void requestWhoseReplyWasLostGoesOnWithWhatItHas(LockRequest kind) {
		this.backend.next("acquire", ScriptedBackend.LOST_REPLY);
		LockHandle handle = this.engine.acquire(kind.waitTime(LONG));
		assertThat(this.backend.steps()).containsExactly("acquire k", "register k");
		assertThat(this.third.tryAcquire(kind)).hasValueSatisfying(LockHandle::close);
		handle.close();
		assertThat(this.third.tryAcquire("k")).isPresent();
	}

	@ParameterizedTest
	@MethodSource("together")
	void requestDoesNotWaitForTheAnswerToAnother(LockRequest kind) {
		this.backend.before("acquire",
				() -> assertThat(inThread(() -> this.engine.tryAcquire(kind).isPresent())).succeedsWithin(PATIENCE)
					.isEqualTo(true));
		assertThat(this.engine.tryAcquire(kind)).isPresent();
	}

	@ParameterizedTest
	@MethodSource("together")
	void eachHolderHasALeaseOfItsOwn(LockRequest kind) {
		LockHandle fixed = this.engine.acquire(kind.leaseTime(Duration.ofSeconds(1)).detached(true));
		LockHandle renewed = this.engine.acquire(kind.detached(true));
		this.time.advance(Duration.ofMinutes(5));
		assertThat(fixed.isHeld()).isFalse();
		assertThat(renewed.isHeld()).isTrue();
		assertThat(events(LockEvent.Lost.class)).extracting(LockEvent.Lost::owner).containsExactly(fixed.owner());
		fixed.close();
		assertThat(this.third.tryAcquire("k")).isEmpty();
		renewed.close();
		assertThat(this.third.tryAcquire("k")).isPresent();
	}

	@ParameterizedTest
	@MethodSource("together")
	void holderIsLostAlone(LockRequest kind) {
		LockHandle lost = this.engine.acquire(kind.detached(true));
		LockHandle kept = this.engine.acquire(kind.detached(true));
		assertThat(this.store.release("k", lost.owner())).isTrue();
		this.time.advance(LEASE);
		assertThat(lost.isHeld()).isFalse();
		assertThat(kept.isHeld()).isTrue();
		assertThat(lossReasons()).containsExactly(Reason.TAKEN);
	}

}
