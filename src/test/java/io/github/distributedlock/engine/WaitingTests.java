package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.ReleaseListener;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Contracts 10 (waiting) and 11 (reservation).
 */
class WaitingTests extends EngineFixture {

	private static final Duration LONG = Duration.ofSeconds(20);

	@Test
	void releaseElsewhereWakesTheWaiterAtOnce() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		assertThat(this.backend.steps()).containsExactly("acquire k", "register k");
		releasedElsewhere("k");
		assertThat(waiter).succeedsWithin(PATIENCE);
	}

	@Test
	void registeringRetriesTheAcquireInTheSameStep() {
		ownedElsewhere("k", LEASE);
		this.backend.next("acquire", (step) -> {
			Object busy = step.get();
			releasedElsewhere("k");
			return busy;
		});
		assertThat(this.engine.tryAcquire(waiting("k", LONG))).isPresent();
		assertThat(this.backend.steps()).containsExactly("acquire k", "register k");
	}

	@Test
	void wakeUpThatComesBeforeTheParkIsRemembered() {
		ownedElsewhere("k", LEASE);
		this.backend.next("register", (step) -> {
			Object busy = step.get();
			releasedElsewhere("k");
			return busy;
		});
		assertThat(this.engine.tryAcquire(waiting("k", LONG))).isPresent();
		assertThat(this.backend.steps()).containsExactly("acquire k", "register k", "register k");
	}

	@Test
	void wakeUpThatGetsLostCostsAtMostHalfASecond() {
		ownedElsewhere("k", LEASE);
		AtomicReference<String> lost = loseWakeUps();
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		releasedElsewhere("k");
		assertThat(lost).hasValue("k");
		assertThat(waiter).isNotDone();
		this.time.advance(Duration.ofMillis(500));
		assertThat(waiter).succeedsWithin(PATIENCE);
	}

	@Test
	void wakeUpThatGetsLostDoesNotCostTheLockWhoeverWaitsForLess() {
		ownedElsewhere("k", LEASE);
		AtomicReference<String> lost = loseWakeUps();
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", Duration.ofMillis(200)));
		releasedElsewhere("k");
		assertThat(lost).hasValue("k");
		this.time.advance(Duration.ofMillis(200));
		assertThat(waiter).succeedsWithin(PATIENCE);
	}

	@Test
	void resubscriptionMakesEveryWaiterTryOnce() {
		ownedElsewhere("a", LEASE);
		ownedElsewhere("b", LEASE);
		acquiring(waiting("a", LONG));
		acquiring(waiting("b", LONG));
		this.backend.forgetSteps();
		this.backend.listener().onResubscribed();
		Awaitility.await()
			.untilAsserted(
					() -> assertThat(this.backend.steps()).containsExactlyInAnyOrder("register a", "register b"));
	}

	@Test
	void waiterThatGivesUpWithdraws() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", Duration.ofSeconds(1)));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(waiter).failsWithin(PATIENCE);
		Awaitility.await().until(() -> !hasQueues());
		assertThat(this.backend.steps()).endsWith("withdraw k");
		releasedElsewhere("k");
		assertThat(holderOf("k")).as("nobody is registered").isNull();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void waiterThatGivesUpWhileItIsWokenPassesTheWakeUpOn(boolean fair) {
		ownedElsewhere("k", LEASE);
		LockEngine third = engine(this.store, "third");
		CompletableFuture<LockHandle> leaving = acquiring(waiting("k", Duration.ofSeconds(1)).fair(fair));
		CompletableFuture<LockHandle> staying = inThread(() -> third.acquire(waiting("k", LONG).fair(fair)));
		untilWaiting(2);
		// The last poll before the deadline is answered only after the release.
		this.backend.next("withdraw", (step) -> {
			releasedElsewhere("k");
			return step.get();
		});
		this.time.advance(Duration.ofSeconds(1));
		assertThat(leaving).failsWithin(PATIENCE);
		assertThat(staying).succeedsWithin(PATIENCE);
	}

	@Test
	void nextOneInTheLocalQueueInheritsTheRegistration() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> leaving = acquiring(waiting("k", Duration.ofSeconds(1)));
		CompletableFuture<LockHandle> staying = acquiring(waiting("k", LONG));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(leaving).failsWithin(PATIENCE);
		untilWaiting(1);
		assertThat(this.backend.steps()).doesNotContain("withdraw k");
		releasedElsewhere("k");
		assertThat(staying).succeedsWithin(PATIENCE);
	}

	@Test
	void messageThatNobodyWaitsForIsPassedOn() {
		LockEngine third = engine(this.store, "third");
		ownedElsewhere("k", LEASE);
		String us = instance();
		this.store.acquireOrRegister(Claim.of("k", us + ":77", us, LEASE));
		CompletableFuture<LockHandle> staying = inThread(() -> third.acquire(waiting("k", LONG)));
		untilWaiting(1);
		releasedElsewhere("k");
		assertThat(this.backend.steps()).containsExactly("withdraw k");
		assertThat(staying).succeedsWithin(PATIENCE);
	}

	@Test
	void requestThatMayNotWaitLetsAWithdrawalEnd() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> leaving = acquiring(waiting("k", Duration.ofSeconds(1)));
		CompletableFuture<Boolean> trying = new CompletableFuture<>();
		this.backend.next("withdraw", (step) -> {
			releasedElsewhere("k");
			inThread(() -> trying.complete(this.engine.tryAcquire("k").isPresent()));
			untilWaiting(1);
			return step.get();
		});
		this.time.advance(Duration.ofSeconds(1));
		assertThat(leaving).failsWithin(PATIENCE);
		assertThat(trying).succeedsWithin(PATIENCE).isEqualTo(true);
	}

	@Test
	void requestThatMayNotWaitDoesNotWaitForTwoCommandsOfAStoreThatFails() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> leaving = acquiring(waiting("k", Duration.ofSeconds(1)));
		AtomicReference<CompletableFuture<?>> trying = new AtomicReference<>();
		this.backend.next("withdraw", (step) -> {
			trying.set(inThread(() -> this.engine.tryAcquire("k")));
			untilWaiting(1);
			return ScriptedBackend.LOST_REQUEST.apply(step);
		});
		this.backend.forgetSteps();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(leaving).failsWithin(PATIENCE);
		Awaitility.await().until(() -> trying.get() != null);
		assertThat(trying.get()).failsWithin(PATIENCE)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockBackendException.class);
		assertThat(this.backend.steps()).doesNotContain("acquire k");
	}

	@Test
	void requestAfterAWithdrawalIsNotToldOfAnEarlierFailure() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> leaving = acquiring(waiting("k", Duration.ofMillis(100)));
		this.backend.next("register", ScriptedBackend.LOST_REQUEST);
		this.time.advance(Duration.ofMillis(10));
		this.backend.listener().onResubscribed();
		untilWaiting(1);
		AtomicReference<CompletableFuture<Boolean>> trying = new AtomicReference<>();
		this.backend.next("withdraw", (step) -> {
			trying.set(inThread(() -> this.engine.tryAcquire("k").isPresent()));
			untilWaiting(1);
			return step.get();
		});
		this.time.advance(Duration.ofSeconds(1));
		assertThat(leaving).failsWithin(PATIENCE);
		Awaitility.await().until(() -> trying.get() != null);
		assertThat(trying.get()).succeedsWithin(PATIENCE).isEqualTo(false);
	}

	@Test
	void withdrawalThatFailsDoesNotBlockTheKey() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> leaving = acquiring(waiting("k", Duration.ofSeconds(1)));
		this.backend.next("withdraw", ScriptedBackend.LOST_REQUEST);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(leaving).failsWithin(PATIENCE);
		Awaitility.await().until(() -> !hasQueues());
		releasedElsewhere("k");
		this.time.advance(Duration.ofMillis(501));
		assertThat(this.engine.tryAcquire("k")).isPresent();
	}

	@Test
	void releasedKeyIsReservedForTheWaitingJvmAndTheReleaserDoesNotOvertake() {
		LockEngine third = engine(this.store, "third");
		LockHandle held = third.acquire("k");
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		this.backend.next("register", (step) -> {
			assertThat(third.tryAcquire("k")).as("reserved for the other JVM").isEmpty();
			return step.get();
		});
		held.close();
		assertThat(waiter).succeedsWithin(PATIENCE);
	}

	@Test
	void reservationOfAJvmThatDiesLapsesAfterHalfASecond() {
		ownedElsewhere("k", LEASE);
		this.store.listen("dead#1", new ReleaseListener() {

			@Override
			public void onRelease(ReleaseNotification notification) {
			}

			@Override
			public void onResubscribed() {
			}

		});
		this.store.acquireOrRegister(Claim.of("k", "dead#1:1", "dead#1", LEASE));
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		releasedElsewhere("k");
		assertThat(holderOf("k")).isEqualTo(Holder.reservation("dead#1"));
		this.time.advance(Duration.ofMillis(499));
		assertThat(waiter).isNotDone();
		this.time.advance(Duration.ofMillis(500));
		assertThat(waiter).succeedsWithin(PATIENCE);
	}

	@Test
	void hundredWaitersOfThisJvmCostNoMoreThanOne() {
		ownedElsewhere("k", LEASE);
		for (int i = 0; i < 100; i++) {
			inThread(() -> this.engine.acquire(waiting("k", LONG)));
		}
		untilWaiting(100);
		this.backend.forgetSteps();
		for (int i = 0; i < 20; i++) {
			int before = this.backend.steps().size();
			this.time.advance(Duration.ofMillis(500));
			Awaitility.await().until(() -> this.backend.steps().size() > before && this.time.waiting() == 100);
		}
		assertThat(this.backend.steps()).hasSizeBetween(20, 30);
	}

	static Stream<Waiter> aWakeUpForAWaiterOfAnotherJvmIsIgnored() {
		return Stream.of(Waiter.exclusive("other#1"), Waiter.shared("other#1"), Waiter.fair("other#1", "other#1:5"));
	}

	@ParameterizedTest
	@MethodSource
	void aWakeUpForAWaiterOfAnotherJvmIsIgnored(Waiter waiter) {
		AtomicBoolean looked = new AtomicBoolean();
		this.backend.next("withdraw", (step) -> {
			Awaitility.await("looked").untilTrue(looked);
			return step.get();
		});
		this.backend.listener().onRelease(ReleaseNotification.of("k", waiter));
		boolean withdraws = hasQueues();
		looked.set(true);
		assertThat(withdraws).isFalse();
	}

}
