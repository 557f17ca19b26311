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
		this.backend.after("acquire", () -> releasedElsewhere("k"));
		assertThat(this.engine.tryAcquire(waiting("k", LONG))).isPresent();
		assertThat(this.backend.steps()).containsExactly("acquire k", "register k");
	}

	@Test
	void wakeUpThatComesBeforeTheParkIsRemembered() {
		ownedElsewhere("k", LEASE);
		this.backend.after("register", () -> releasedElsewhere("k"));
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

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void waiterThatGivesUpWhileItIsWokenPassesTheWakeUpOn(boolean fair) {
		ownedElsewhere("k", LEASE);
		LockEngine third = engine(this.store, "third");
		CompletableFuture<LockHandle> leaving = acquiring(waiting("k", Duration.ofSeconds(1)).fair(fair));
		CompletableFuture<LockHandle> staying = inThread(() -> third.acquire(waiting("k", LONG).fair(fair)));
		untilWaiting(2);
		// The last poll before the deadline is answered only after the release.
		this.backend.before("withdraw", () -> releasedElsewhere("k"));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(leaving).failsWithin(PATIENCE);
		assertThat(staying).succeedsWithin(PATIENCE);
	}

	@Test
	void nextRequestInTheLocalQueueInheritsTheRegistration() {
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
		this.backend.before("withdraw", () -> {
			releasedElsewhere("k");
			inThread(() -> trying.complete(this.engine.tryAcquire("k").isPresent()));
			untilWaiting(1);
		});
		this.time.advance(Duration.ofSeconds(1));
		assertThat(leaving).failsWithin(PATIENCE);
		assertThat(trying).succeedsWithin(PATIENCE).isEqualTo(true);
	}

	@Test
	void tryAcquireWaitsForOneCommandOfAFailingStore() {
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
		assertFails(trying.get(), LockBackendException.class);
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
		this.backend.before("withdraw", () -> {
			trying.set(inThread(() -> this.engine.tryAcquire("k").isPresent()));
			untilWaiting(1);
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
	void releasedKeyIsReservedForTheWaitingJvm() {
		LockEngine third = engine(this.store, "third");
		LockHandle held = third.acquire("k");
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		this.backend.before("register",
				() -> assertThat(third.tryAcquire("k")).as("reserved for the other JVM").isEmpty());
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

	static Stream<Waiter> aWakeUpForAWaiterOfAnotherJvmIsIgnored() {
		return Stream.of(Waiter.exclusive("other#1"), Waiter.shared("other#1"), Waiter.fair("other#1", "other#1:5"));
	}

	@ParameterizedTest
	@MethodSource
	void aWakeUpForAWaiterOfAnotherJvmIsIgnored(Waiter waiter) {
		AtomicBoolean looked = new AtomicBoolean();
		this.backend.before("withdraw", () -> Awaitility.await("looked").untilTrue(looked));
		this.backend.listener().onRelease(ReleaseNotification.of("k", waiter));
		boolean withdraws = hasQueues();
		looked.set(true);
		assertThat(withdraws).isFalse();
	}

}
