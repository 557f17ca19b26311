package io.github.distributedlock.engine;

import io.github.distributedlock.backend.LockBackend.Renewal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Contract 10: nobody is woken at the end of a lease, so who waits asks then, and no more
 * often than else before.
 */
class EndOfLeaseTests extends EngineFixture {

	private static final Duration MILLI = Duration.ofMillis(1);

	private static final Duration LONG = Duration.ofMinutes(2);

	@Test
	void isWhenWhoWaitsAsksAndNotBefore() {
		ownedElsewhere("k", Duration.ofMillis(1_700));
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		acquiresAfter(Duration.ofMillis(1_700), waiter);
		assertThat(this.backend.steps()).as("two at the beginning, three polls, one at the end").hasSize(6);
	}

	@Test
	void countsFromTheAnswer() {
		ownedElsewhere("k", Duration.ofMillis(300));
		this.backend.after("register", () -> this.time.pass(Duration.ofMillis(100)));
		acquiresAfter(Duration.ofMillis(300), acquiring(waiting("k", LONG)));
		assertThat(this.backend.steps()).containsExactly("acquire k", "register k", "register k");
	}

	@Test
	void ofAHolderThatDiedIsKnownFromItsLastRenewal() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		this.time.advance(LEASE.dividedBy(3));
		renewedElsewhere(LEASE);
		acquiresAfter(LEASE, waiter);
	}

	@ParameterizedTest
	@ValueSource(ints = { 100, 300, 700, 30_000 })
	void endThatNeverComesCostsNoMoreQuestionsThanThePolls(int millis) {
		Duration lease = Duration.ofMillis(millis);
		ownedElsewhere("k", lease);
		acquiring(waiting("k", LONG));
		this.backend.forgetSteps();
		Duration passed = Duration.ZERO;
		while (passed.compareTo(Duration.ofSeconds(24)) < 0) {
			this.time.advance(lease.dividedBy(3));
			renewedElsewhere(lease);
			passed = passed.plus(lease.dividedBy(3));
		}
		long polls = passed.toMillis() / 480;
		assertThat(this.backend.steps()).as("at most one more")
			.hasSizeBetween((int) (passed.toMillis() / 500) - 1, (int) polls + 1);
	}

	@Test
	void ofARenewedLeaseHardlyLongerThanAPollIsNoticedToo() {
		Duration lease = Duration.ofMillis(900);
		ownedElsewhere("k", lease);
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		for (int i = 0; i < 30; i++) {
			this.time.advance(lease.dividedBy(3));
			renewedElsewhere(lease);
		}
		acquiresAfter(lease, waiter);
	}

	@Test
	void endThatAnExtensionPutOffIsAwaitedAgain() {
		Duration lease = Duration.ofSeconds(1);
		ownedElsewhere("k", lease);
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		this.time.advance(lease.minus(MILLI));
		renewedElsewhere(lease.multipliedBy(5));
		acquiresAfter(lease.multipliedBy(5), waiter);
	}

	@Test
	void ofAParkedLockIsAwaitedWithoutAnyOtherPolls() {
		ownedElsewhere("k", LEASE);
		Duration rest = Duration.ofMillis(1_300);
		assertThat(this.store.leaveToExpire("k", "other#1:1", rest)).isTrue();
		acquiresAfter(rest, acquiring(waiting("k", LONG)));
		assertThat(this.backend.steps()).as("two at the beginning, two polls, one at the end").hasSize(5);
	}

	@Test
	void isNoticedAlsoInTheJvmOfTheHolder() {
		Duration lease = Duration.ofSeconds(1);
		LockHandle held = this.engine.acquire(request("k").leaseTime(lease));
		acquiresAfter(lease, acquiring(waiting("k", LONG)));
		assertThat(held.isHeld()).isFalse();
	}

	@Test
	void ofAParkedLockIsNoticedAlsoInTheJvmOfTheHolder() {
		LockHandle held = this.engine.acquire(request("k").minHoldTime(Duration.ofSeconds(1)));
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		held.close();
		acquiresAfter(Duration.ofMillis(1_001), waiter);
	}

	@Test
	void isNoticedAlsoWhereNothingIsHeard() {
		this.backend.deaf(true);
		ownedElsewhere("k", Duration.ofMillis(1_700));
		LockEngine engine = build(
				LockEngine.builder(this.backend).pollInterval(Duration.ofMinutes(1), Duration.ofMinutes(1)));
		CompletableFuture<LockHandle> waiter = inThread(() -> engine.acquire(waiting("k", LONG)));
		untilWaiting(1);
		acquiresAfter(Duration.ofMillis(1_700), waiter);
		assertThat(this.backend.steps()).as("two at the beginning, one at the end").hasSize(3);
	}

	@Test
	void isNoticedByFairRequestsAndReaders() {
		for (LockRequest request : List.of(waiting("fair", LONG).fair(true),
				waiting("shared", LONG).mode(LockMode.SHARED))) {
			ownedElsewhere(request.keys().get(0), Duration.ofMillis(1_700));
			acquiresAfter(Duration.ofMillis(1_700), acquiring(request));
		}
	}

	@Test
	void isNoticedByAPollIfTheStoreDoesNotTellIt() {
		ownedElsewhere("k", Duration.ofSeconds(1));
		this.backend.breaks((step) -> (step.get() instanceof AcquireResult attempt && !attempt.acquired())
				? AcquireResult.busy(attempt.holder()) : AcquireResult.ACQUIRED);
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		this.time.advance(Duration.ofMillis(1_500));
		assertThat(waiter).succeedsWithin(PATIENCE);
	}

	private void renewedElsewhere(Duration lease) {
		assertThat(this.store.renew(List.of(Renewal.of(Claim.of("k", "other#1:1", "other#1", lease)))))
			.containsExactly(true);
	}

	/**
	 * Gets the lock when so much time has passed, and not a millisecond earlier. The
	 * store counts whole microseconds, so that the last one may end later.
	 */
	private void acquiresAfter(Duration left, CompletableFuture<LockHandle> waiter) {
		long end = this.time.nanoTime() + left.toNanos();
		this.time.advance(left.minus(MILLI));
		assertThat(waiter).isNotDone();
		this.time.advance(Duration.ofNanos(end - this.time.nanoTime() + 1_000));
		assertThat(waiter).succeedsWithin(PATIENCE);
	}

}
