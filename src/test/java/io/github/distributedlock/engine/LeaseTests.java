package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.fixtures.Patience;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.tuple;

/**
 * Contracts 5 (deadline), 6 (watchdog) and 7 (states of a hold).
 */
class LeaseTests extends EngineFixture {

	@Test
	void leaseIsRenewedForAsLongAsTheHandleIsOpen() {
		LockHandle handle = this.engine.acquire("k");
		this.time.advance(Duration.ofMinutes(10));
		assertThat(handle.isHeld()).isTrue();
		assertThat(holderOf("k")).isEqualTo(Holder.owner(handle.owner()));
		assertThat(this.backend.steps().stream().filter("renew k"::equals)).hasSizeBetween(60, 70);
		handle.close();
		this.backend.forgetSteps();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.backend.steps()).isEmpty();
	}

	@Test
	void holderIsToldBeforeTheServerCanGiveTheKeyToAnother() {
		LockRequest request = request("k").leaseTime(Duration.ofSeconds(1));
		LockHandle handle = this.engine.acquire(request);
		List<Holder> holderWhenTold = new ArrayList<>();
		handle.onLost(() -> holderWhenTold.add(holderOf("k")));
		this.time.advance(Duration.ofMillis(989));
		assertThat(handle.isHeld()).isTrue();
		assertThat(handle.remaining()).isEqualTo(Duration.ofMillis(1));
		this.time.advance(Duration.ofMillis(1));
		assertThat(holderWhenTold).containsExactly(Holder.owner(handle.owner()));
		assertThat(handle.isHeld()).isFalse();
		assertThat(handle.remaining()).isZero();
		assertThat(events(LockEvent.Lost.class)).singleElement()
			.isEqualTo(new LockEvent.Lost(request, "k", handle.owner(), Reason.LEASE_EXPIRED, Duration.ofMillis(990)));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::checkHeld)
			.withMessageContaining("Lock 'k' of " + handle.owner() + " was lost: its fixed lease of 1 s ran out")
			.withMessageContaining("(leave the leaseTime empty");
	}

	@Test
	void deadlineCountsFromBeforeTheSend() {
		this.backend.after("acquire", () -> this.time.pass(Duration.ofMillis(400)));
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(1)));
		assertThat(handle.remaining()).isEqualTo(Duration.ofMillis(590));
	}

	@Test
	void grantWhoseAnswerTookLongerThanTheLeaseIsNone() {
		this.backend.after("acquire", () -> this.time.pass(Duration.ofSeconds(1)));
		assertThatExceptionOfType(io.github.distributedlock.LockBackendException.class)
			.isThrownBy(() -> this.engine.tryAcquire(request("k").leaseTime(Duration.ofSeconds(1))))
			.withMessageContaining("the answer took longer than the lease of 1 s");
	}

	@Test
	void failedRenewalIsRetriedQuicklyAndDoesNotLoseTheLock() {
		LockHandle handle = this.engine.acquire("k");
		for (int i = 0; i < 5; i++) {
			this.backend.next("renew", ScriptedBackend.LOST_REQUEST);
		}
		this.time.advance(Duration.ofSeconds(13));
		assertThat(this.backend.steps().stream().filter("renew k"::equals)).hasSizeGreaterThan(5);
		assertThat(handle.isHeld()).isTrue();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(handle.isHeld()).isTrue();
	}

	@Test
	void storeThatCannotBeReachedUntilTheDeadlineLosesTheLock() {
		LockHandle handle = this.engine.acquire("k");
		AtomicInteger told = new AtomicInteger();
		handle.onLost(told::incrementAndGet);
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		this.time.advance(Duration.ofMillis(29_699));
		assertThat(handle.isHeld()).isTrue();
		this.time.advance(Duration.ofMillis(1));
		assertThat(told).hasValue(1);
		assertThat(lossReasons()).containsExactly(Reason.NOT_RENEWED);
		this.backend.works();
		this.time.advance(Duration.ofMillis(300));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void storeThatMayHaveForgottenIsAskedOnceForAllHeldKeys() {
		LockHandle held = this.engine.acquire("held");
		LockHandle fixed = this.engine.acquire(request("fixed").leaseTime(Duration.ofSeconds(20)));
		LockHandle gone = this.engine.acquire("gone");
		LockHandle goneFixed = this.engine.acquire(request("gone-fixed").leaseTime(Duration.ofSeconds(20)));
		this.time.advance(Duration.ofSeconds(5));
		this.store.release("gone", gone.owner());
		this.store.release("gone-fixed", goneFixed.owner());
		this.backend.forgetSteps();
		this.backend.listener().onResubscribed();
		this.time.advance(Duration.ZERO);
		assertThat(this.backend.steps()).containsExactly("renew 4");
		assertThat(events(LockEvent.Lost.class)).extracting(LockEvent.Lost::key, LockEvent.Lost::reason)
			.containsExactlyInAnyOrder(tuple("gone", Reason.TAKEN), tuple("gone-fixed", Reason.TAKEN));
		assertThat(held.remaining()).isEqualTo(Duration.ofMillis(29_700));
		assertThat(fixed.remaining()).as("a fixed lease is not renewed").isEqualTo(Duration.ofMillis(14_850));
		this.time.advance(Duration.ofSeconds(3));
		assertThat(this.backend.steps()).containsExactly("renew 4");
		this.time.advance(Duration.ofSeconds(12));
		assertThat(fixed.isHeld()).isFalse();
		assertThat(held.isHeld()).isTrue();
		assertThat(events(LockEvent.RenewedLate.class)).isEmpty();
	}

	@Test
	void answerFromBeforeTheStoreMayHaveForgottenDoesNotCount() {
		LockHandle handle = this.engine.acquire("k");
		this.backend.after("renew", () -> {
			this.store.release("k", handle.owner());
			this.time.pass(Duration.ofMillis(1));
			this.backend.listener().onResubscribed();
		});
		this.time.advance(Duration.ofSeconds(10));
		this.time.advance(Duration.ZERO);
		assertThat(this.backend.steps()).containsExactly("acquire k", "renew k", "renew k");
		assertThat(handle.isHeld()).isFalse();
	}

	@Test
	void lateRenewalIsAnEvent() {
		LockHandle handle = this.engine.acquire("k");
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		this.time.advance(Duration.ofSeconds(26));
		this.backend.works();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(events(LockEvent.RenewedLate.class)).hasSize(1);
		assertThat(handle.isHeld()).isTrue();
	}

	@Test
	void checkOfAFixedLeaseNearItsEndIsNoLateRenewal() {
		LockHandle fixed = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(20)));
		this.time.advance(Duration.ofSeconds(18));
		this.backend.forgetSteps();
		this.backend.listener().onResubscribed();
		this.time.advance(Duration.ZERO);
		assertThat(this.backend.steps()).containsExactly("renew k");
		assertThat(fixed.isHeld()).isTrue();
		assertThat(events(LockEvent.RenewedLate.class)).isEmpty();
		assertThat(this.engine.snapshot().lateRenewals()).isZero();
	}

	@Test
	void locksAreRenewedTwoHundredAtATime() {
		List<LockHandle> handles = new ArrayList<>();
		for (int i = 0; i < 450; i++) {
			handles.add(this.engine.acquire("k" + i));
		}
		this.backend.forgetSteps();
		this.time.advance(Duration.ofSeconds(10));
		assertThat(this.backend.steps()).containsExactly("renew 200", "renew 200", "renew 50");
		this.time.advance(Duration.ofMinutes(2));
		assertThat(handles).allMatch(LockHandle::isHeld);
	}

	@Test
	void batchWithTooFewAnswersKeepsNoOtherFromBeingRenewed() {
		List<LockHandle> handles = new ArrayList<>();
		for (int i = 0; i < 450; i++) {
			handles.add(this.engine.acquire("k" + i));
		}
		this.backend.forgetSteps();
		this.backend.next("renew", (step) -> List.of(false));
		this.time.advance(Duration.ofSeconds(10));
		assertThat(this.backend.steps()).containsExactly("renew 200", "renew 200", "renew 50");
		this.time.advance(Duration.ofMillis(500));
		assertThat(this.backend.steps()).last().as("is tried again").isEqualTo("renew 200");
		assertThat(handles).as("what one of too few answers says does not count").allMatch(LockHandle::isHeld);
	}

	@Test
	void extendThatIsAnsweredByNothingIsAFailureOfTheStore() {
		LockHandle handle = this.engine.acquire("k");
		this.backend.next("renew", (step) -> List.of());
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> handle.extend(LEASE.multipliedBy(2)));
		assertThat(handle.isHeld()).isTrue();
	}

	@Test
	void stalledNodeDelaysOnlyItsOwnLeases() {
		LockHandle stalled = this.engine.acquire("node-1:k");
		LockHandle healthy = this.engine.acquire("node-2:k");
		this.time.holdBackRenewals();
		this.time.advance(Duration.ofSeconds(10));
		assertThat(this.time.heldBack()).hasSize(2);
		this.time.advance(Duration.ofSeconds(5));
		assertThat(this.time.heldBack()).as("one round at a time for each node").hasSize(2);
		this.backend.next("renew", ScriptedBackend.LOST_REQUEST);
		this.time.runHeldBack();
		assertThat(this.backend.steps()).filteredOn((step) -> step.startsWith("renew")).hasSize(2);
		assertThat(List.of(stalled.isHeld(), healthy.isHeld())).containsOnly(true);
	}

	@Test
	void deadlineDoesNotWaitForAStalledRenewal() {
		LockHandle handle = this.engine.acquire("k");
		this.time.holdBackRenewals();
		this.time.advance(Duration.ofMillis(29_700));
		assertThat(events(LockEvent.Lost.class)).hasSize(1);
		assertThat(handle.isHeld()).isFalse();
	}

	@Test
	void renewalThatSucceedsAfterTheLossIsFollowedByARelease() {
		LockHandle handle = this.engine.acquire("k");
		this.backend.after("renew", () -> {
			this.time.pass(Duration.ofSeconds(21));
			assertThat(handle.isHeld()).isFalse();
		});
		this.time.advance(Duration.ofSeconds(12));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.backend.steps()).contains("renew k", "release k");
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void unansweredRenewalBeforeALossIsFollowedByARelease() {
		LockHandle handle = this.engine.acquire("k");
		this.backend.next("renew", (step) -> {
			step.get();
			this.time.pass(Duration.ofSeconds(21));
			assertThat(handle.isHeld()).isFalse();
			throw new IllegalStateException("timed out");
		});
		this.time.advance(Duration.ofSeconds(12));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void renewalThatIsAnsweredAfterTheReleaseChangesNothing() {
		LockHandle handle = this.engine.acquire("k");
		this.backend.before("renew", () -> handle.close());
		this.time.advance(Duration.ofSeconds(15));
		assertThat(events(LockEvent.Lost.class)).isEmpty();
		assertThat(events(LockEvent.Released.class)).hasSize(1);
		assertThat(this.backend.steps()).containsExactly("acquire k", "renew k", "release k");
	}

	@Test
	void watchdogIsDisarmedBeforeTheReleaseIsSent() {
		LockHandle handle = this.engine.acquire("k");
		this.time.advance(Duration.ofMillis(8_999));
		this.backend.before("release", () -> this.time.advance(Duration.ofSeconds(5)));
		handle.close();
		assertThat(this.backend.steps()).containsExactly("acquire k", "release k");
	}

	@Test
	void lastRenewalIsTrimmedToTheLongestHold() {
		LockHandle handle = this.engine.acquire(request("k").maxHoldTime(Duration.ofSeconds(45)));
		this.time.advance(Duration.ofMillis(44_749));
		assertThat(handle.isHeld()).isTrue();
		this.time.advance(Duration.ofMillis(1));
		assertThat(handle.isHeld()).isFalse();
		assertThat(lossReasons()).containsExactly(Reason.MAX_HOLD_TIME);
		this.time.advance(Duration.ofMillis(300));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void longestHoldIsTheReasonAlsoBetweenTwoMilliseconds() {
		this.backend.next("renew", (step) -> {
			this.time.pass(Duration.ofNanos(300_000));
			throw LockBackendException.of("down").retryable(true).build();
		});
		this.engine.acquire(request("k").maxHoldTime(Duration.ofSeconds(45)));
		this.time.advance(Duration.ofSeconds(45));
		assertThat(lossReasons()).containsExactly(Reason.MAX_HOLD_TIME);
	}

	@Test
	void longestHoldThatIsShorterThanTheLeaseIsTheLease() {
		LockHandle handle = this.engine.acquire(request("k").maxHoldTime(Duration.ofSeconds(2)));
		this.time.advance(Duration.ofSeconds(2));
		assertThat(handle.isHeld()).isFalse();
		assertThat(holderOf("k")).isNull();
		assertThat(this.backend.steps()).doesNotContain("renew k");
	}

	@Test
	void suspendedMachineLosesAFixedLease() {
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(5)));
		this.time.suspend(Duration.ofSeconds(6));
		assertThat(handle.isHeld()).isFalse();
	}

	@Test
	void suspendedMachineKeepsALeaseThatTheNextRenewalConfirms() {
		LockHandle kept = this.engine.acquire("kept");
		LockHandle taken = this.engine.acquire("taken");
		this.store.release("taken", taken.owner());
		this.time.suspend(Duration.ofMinutes(1));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(kept.isHeld()).isTrue();
		assertThat(taken.isHeld()).isFalse();
	}

	@Test
	void suspendedMachineLosesARenewedLeaseThatCannotBeConfirmed() {
		LockHandle handle = this.engine.acquire("k");
		this.time.suspend(Duration.ofMinutes(1));
		this.backend.next("renew", ScriptedBackend.LOST_REQUEST);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(handle.isHeld()).isFalse();
	}

	@Test
	void leaseThatIsOverOnlyByTheWallClockIsReleasedInTheStore() {
		for (boolean parks : List.of(false, true)) {
			LockHandle handle = this.engine
				.acquire(parks ? request("k").minHoldTime(Duration.ofSeconds(5)) : request("k"));
			this.time.suspend(LEASE);
			assertThat(handle.isHeld()).isFalse();
			act();
			assertThat(holderOf("k")).as("in use").isEqualTo(Holder.owner(handle.owner()));
			handle.close();
			act();
			assertThat(holderOf("k") == null).isEqualTo(!parks);
		}
		this.time.advance(Duration.ofSeconds(6));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void extendMakesAFixedLeaseLonger() {
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(1)));
		assertThat(handle.extend(Duration.ofSeconds(5))).isTrue();
		this.time.advance(Duration.ofMillis(4_900));
		assertThat(handle.isHeld()).isTrue();
		assertThat(holderOf("k")).isEqualTo(Holder.owner(handle.owner()));
	}

	@Test
	void extendedLeaseHasTheMarginOfItsLength() {
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(1)));
		assertThat(handle.extend(Duration.ofHours(1))).isTrue();
		assertThat(handle.remaining()).isEqualTo(Duration.ofHours(1).minusSeconds(36));
	}

	@Test
	void extendThatIsNotAnsweredIsCleanedUpThoughAnotherIs() {
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(1)));
		this.backend.before("renew", () -> {
			this.backend.next("renew", ScriptedBackend.LOST_REQUEST);
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> handle.extend(Duration.ofSeconds(7)));
		});
		assertThat(handle.extend(Duration.ofSeconds(5))).isTrue();
		handle.close();
		assertThat(this.backend.steps()).as("once").filteredOn("release k"::equals).hasSize(1);
		this.time.advance(Duration.ofMillis(1));
		assertThat(this.backend.steps()).as("and cleaned up").filteredOn("release k"::equals).hasSize(2);
	}

	@Test
	void extendsThatAreAnsweredOneAfterTheOtherLeaveNothingToCleanUp() {
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(1)));
		CountDownLatch firstIsOver = new CountDownLatch(1);
		AtomicReference<CompletableFuture<Boolean>> second = new AtomicReference<>();
		this.backend.next("renew", (step) -> {
			CountDownLatch secondHasBegun = new CountDownLatch(1);
			this.backend.next("renew", (later) -> {
				secondHasBegun.countDown();
				Patience.await(firstIsOver, "the test goes on");
				return later.get();
			});
			second.set(inThread(() -> handle.extend(Duration.ofSeconds(7))));
			Patience.await(secondHasBegun, "the test goes on");
			return step.get();
		});
		assertThat(handle.extend(Duration.ofSeconds(5))).isTrue();
		firstIsOver.countDown();
		assertThat(second.get()).succeedsWithin(Patience.PATIENCE).isEqualTo(true);
		handle.close();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.backend.steps()).filteredOn("release k"::equals).hasSize(1);
	}

	@Test
	void extendNeverShortensAndThenSendsNothing() {
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(5)));
		this.backend.forgetSteps();
		assertThat(handle.extend(Duration.ofSeconds(1))).isTrue();
		assertThat(this.backend.steps()).isEmpty();
	}

	@Test
	void extendAsksForNoLessThanTheWatchdog() {
		LockHandle handle = this.engine.acquire("k");
		LockHandle trimmed = this.engine.acquire(request("trimmed").maxHoldTime(Duration.ofSeconds(35)));
		this.time.advance(Duration.ofSeconds(9));
		assertThat(handle.extend(Duration.ofSeconds(25))).isTrue();
		assertThat(handle.remaining()).isEqualTo(Duration.ofMillis(29_700));
		assertThat(trimmed.extend(Duration.ofSeconds(25))).isTrue();
		assertThat(trimmed.remaining()).isEqualTo(Duration.ofMillis(25_740));
	}

	@Test
	void extendCountsOnlyAfterSuccess() {
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(1)));
		this.backend.next("renew", ScriptedBackend.LOST_REPLY);
		assertThatExceptionOfType(io.github.distributedlock.LockBackendException.class)
			.isThrownBy(() -> handle.extend(Duration.ofSeconds(5)));
		assertThat(handle.remaining()).isEqualTo(Duration.ofMillis(990));
	}

	@Test
	void extendOfALostLockSaysSo() {
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(1)));
		this.store.release("k", handle.owner());
		assertThat(handle.extend(Duration.ofSeconds(5))).isFalse();
		assertThat(handle.isHeld()).isFalse();
	}

	@Test
	void extendPastTheLongestHoldIsRefused() {
		LockHandle handle = this.engine.acquire(request("k").maxHoldTime(Duration.ofSeconds(40)));
		assertThatIllegalArgumentException().isThrownBy(() -> handle.extend(Duration.ofSeconds(41)))
			.withMessageContaining("past its maxHoldTime of 40 s");
		assertThatIllegalArgumentException().isThrownBy(() -> handle.extend(Duration.ZERO))
			.withMessageContaining("out of range");
	}

	@Test
	void deadlineCountsFromBeforeARenewalOrExtensionWasSent() {
		LockHandle renewed = this.engine.acquire("renewed");
		this.backend.after("renew", () -> this.time.pass(Duration.ofMillis(400)));
		this.time.advance(Duration.ofSeconds(10));
		assertThat(renewed.remaining()).isEqualTo(Duration.ofMillis(29_300));
		LockHandle extended = this.engine.acquire(request("extended").leaseTime(Duration.ofSeconds(1)));
		this.backend.after("renew", () -> this.time.pass(Duration.ofMillis(400)));
		assertThat(extended.extend(Duration.ofSeconds(5))).isTrue();
		assertThat(extended.remaining()).isEqualTo(Duration.ofMillis(4_550));
	}

	@Test
	void renewalDoesNotShortenAnExtension() {
		LockHandle handle = this.engine.acquire("k");
		assertThat(handle.extend(Duration.ofMinutes(5))).isTrue();
		this.time.advance(Duration.ofSeconds(10));
		assertThat(this.backend.steps()).filteredOn("renew k"::equals).hasSizeGreaterThan(1);
		assertThat(handle.remaining()).isGreaterThan(Duration.ofMinutes(4));
	}

	@Test
	void deadlineBetweenTwoLooksIsKeptWhileTheNodeIsBusy() {
		LockHandle handle = this.engine.acquire("k");
		this.time.advance(Duration.ofMillis(350));
		LockHandle other = this.engine.acquire("other");
		this.time.holdBackRenewals();
		this.time.advance(Duration.ofMillis(29_699));
		assertThat(events(LockEvent.Lost.class)).extracting(LockEvent.Lost::key).containsExactly("k");
		this.time.advance(Duration.ofMillis(1));
		assertThat(events(LockEvent.Lost.class)).extracting(LockEvent.Lost::key).containsExactly("k", "other");
		assertThat(handle.isHeld() || other.isHeld()).isFalse();
	}

	@Test
	void renewalsThatAreNearlyDueShareACommandAndStayTogether() {
		this.engine.acquire("a");
		this.time.advance(Duration.ofSeconds(4));
		this.engine.acquire("b");
		this.time.advance(Duration.ofSeconds(2));
		this.engine.acquire("c");
		this.backend.forgetSteps();
		this.time.advance(Duration.ofSeconds(4));
		assertThat(this.backend.steps()).as("at 10 s, a with b").containsExactly("renew 2");
		this.time.advance(Duration.ofSeconds(6));
		assertThat(this.backend.steps()).as("at 16 s, c with a and b").containsExactly("renew 2", "renew 3");
		this.time.advance(Duration.ofSeconds(20));
		assertThat(this.backend.steps()).containsExactly("renew 2", "renew 3", "renew 3", "renew 3");
	}

	@Test
	void suspendedMachineIsNoticedWithoutAnybodyAsking() {
		this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(5)));
		this.time.suspend(Duration.ofSeconds(6));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(events(LockEvent.Lost.class)).hasSize(1);
	}

	@Test
	void lossActionsDoNotRunAfterClose() {
		LockHandle handle = this.engine.acquire("k");
		List<String> told = new ArrayList<>();
		handle.onLost(() -> told.add("lost"));
		handle.close();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(told).isEmpty();
		assertThatIllegalStateException().isThrownBy(handle::checkHeld).withMessageContaining("[k] is closed");
	}

	@Test
	void nextRequestOfThisJvmMayAskAsSoonAsTheHoldIsLost() {
		LockHandle lost = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(1)));
		var waiter = acquiring(waiting("k", Duration.ofSeconds(5)));
		this.time.advance(Duration.ofMillis(990));
		untilWaiting(1);
		this.time.advance(Duration.ofMillis(500));
		assertThat(waiter).succeedsWithin(PATIENCE);
		lost.close();
		assertThat(holderOf("k")).as("the old handle spares the new owner")
			.isEqualTo(Holder.owner(waiter.join().owner()));
	}

}
