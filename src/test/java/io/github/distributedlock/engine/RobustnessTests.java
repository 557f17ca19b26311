package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockNotAcquiredException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.ReleaseOn;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.ForwardingLockBackend;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.internal.Binding;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Findings of a review: orphans, failures told as busy, and errors that must not damage
 * the engine for ever.
 */
class RobustnessTests extends EngineFixture {

	private static final Duration HOUR = Duration.ofHours(1);

	// Orphans

	@Test
	void extensionThatIsAnsweredAfterTheLossIsCleanedUp() {
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(1)));
		this.backend.after("renew", () -> this.time.advance(Duration.ofMillis(995)));
		assertThat(handle.extend(HOUR)).isFalse();
		handle.close();
		this.time.advance(Duration.ofSeconds(2));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void extensionThatIsNeverAnsweredIsCleanedUp() {
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(1)));
		this.backend.next("renew", ScriptedBackend.LOST_REPLY);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> handle.extend(HOUR));
		this.time.advance(Duration.ofSeconds(2));
		handle.close();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void deferredReleaseCleansUpAnUnansweredExtension() {
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(5)));
		this.backend.next("renew", ScriptedBackend.LOST_REPLY);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> handle.extend(HOUR));
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		handle.close();
		this.time.advance(Duration.ofSeconds(10));
		this.backend.works();
		this.time.advance(Duration.ofSeconds(5));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void lateRegistrationDoesNotShortenAnExtendedLease() {
		AtomicReference<Supplier<?>> late = new AtomicReference<>();
		ownedElsewhere("k", Duration.ofMillis(300));
		this.backend.next("register", (step) -> {
			late.set(step);
			return ScriptedBackend.LOST_REQUEST.apply(step);
		});
		CompletableFuture<LockHandle> acquiring = acquiring(
				waiting("k", Duration.ofSeconds(5)).leaseTime(Duration.ofSeconds(1)));
		this.time.advance(Duration.ofMillis(600));
		assertThat(succeeded(acquiring).extend(Duration.ofMinutes(1))).isTrue();
		late.get().get();
		this.time.advance(Duration.ofSeconds(2));
		assertThat(acquiring.join().isHeld()).isTrue();
		assertThat(this.store.acquire(Claim.of("k", "other#1:9", "other#1", LEASE)).acquired()).as("two holders")
			.isFalse();
	}

	@Test
	void keysOfAFailedRequestAreNotParked() {
		ownedElsewhere("b", LEASE);
		LockRequest both = LockRequest.of("a", "b");
		assertThat(this.engine.tryAcquire(both.minHoldTime(Duration.ofMinutes(1)))).isEmpty();
		assertThat(holderOf("a")).isNull();
		assertThat(this.engine.tryAcquire(both.releaseOn(ReleaseOn.EXPIRY))).isEmpty();
		assertThat(holderOf("a")).isNull();
		assertThat(events(LockEvent.Released.class)).as("nobody had it").isEmpty();
	}

	@Test
	void parkedLockThatTheStoreHeardOfLateBlocksNoLonger() {
		LockHandle handle = this.engine.acquire(request("k").releaseOn(ReleaseOn.EXPIRY));
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		handle.close();
		this.time.advance(Duration.ofSeconds(25));
		this.backend.works();
		this.time.advance(Duration.ofSeconds(6));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void bindingsThatOtherThreadsEndDoNotPileUp() {
		LockHandle handle = this.engine.acquire("outer");
		for (int i = 0; i < 3; i++) {
			LockHandle inner = this.engine.acquire("k" + i);
			inThread(() -> {
				inner.close();
				return null;
			}).join();
		}
		Binding.bind(handle);
		assertThat(Binding.all()).containsExactly(handle, handle);
	}

	// Failures that are not busy, and deadlines

	@Test
	void requestThatMayNotWaitIsNotToldBusyWhileTheStoreFails() {
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		acquiring(waiting("k", Duration.ofSeconds(60)));
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.tryAcquire("k"))
			.withMessageContaining("since the store failed");
	}

	@Test
	void whoIsServedAgainAfterAFailureIsToldBusy() {
		ownedElsewhere("k", LEASE);
		this.backend.next("acquire", ScriptedBackend.LOST_REQUEST);
		acquiring(waiting("k", Duration.ofSeconds(60)));
		this.time.advance(Duration.ofMillis(25));
		Awaitility.await().until(() -> this.backend.steps().contains("register k") && this.time.waiting() == 1);
		assertThat(this.engine.tryAcquire("k")).isEmpty();
	}

	@Test
	void requestBehindAWithdrawalThatHangsIsNotToldBusy() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> leaving = acquiring(waiting("k", Duration.ofSeconds(1)));
		CompletableFuture<LockHandle> trying = new CompletableFuture<>();
		this.backend.next("withdraw", (step) -> {
			inThread(() -> this.engine.tryAcquire("k").orElse(null)).whenComplete((handle, failure) -> {
				if (failure != null) {
					trying.completeExceptionally(failure);
				}
				else {
					trying.complete(handle);
				}
			});
			untilWaiting(1);
			this.time.advance(Duration.ofSeconds(1));
			Awaitility.await().until(trying::isDone);
			return ScriptedBackend.LOST_REQUEST.apply(step);
		});
		this.time.advance(Duration.ofSeconds(1));
		assertThat(leaving).failsWithin(PATIENCE);
		assertFails(trying, LockBackendException.class);
	}

	@Test
	void grantThatWasNotHeardIsRecognisedAtTheDeadline() {
		this.backend.next("acquire", ScriptedBackend.LOST_REPLY);
		this.backend.after("register", () -> this.time.pass(Duration.ofSeconds(2)));
		CompletableFuture<LockHandle> acquiring = acquiring(waiting("k", Duration.ofSeconds(2)));
		this.time.advance(Duration.ofMillis(25));
		assertThat(acquiring).succeedsWithin(PATIENCE);
	}

	@Test
	void furtherKeysAreNotAskedForAfterTheDeadline() {
		this.backend.after("acquire", () -> this.time.pass(Duration.ofMillis(1100)));
		LockRequest request = LockRequest.of("a", "b", "c").waitTime(Duration.ofSeconds(1));
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.tryAcquire(request))
			.withMessageStartingWith("Lock 'b' was not asked for, since the waitTime of 1 s was over")
			.matches(LockBackendException::isRetryable);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.backend.steps()).startsWith("acquire a", "release a").doesNotContain("acquire b");
		assertThat(holderOf("a")).isNull();
	}

	@Test
	void furtherKeyThatIsHeldHereIsBusyAfterTheDeadline() {
		LockHandle held = inThread(() -> this.engine.acquire("b")).join();
		this.backend.after("acquire", () -> this.time.pass(Duration.ofMillis(1100)));
		LockRequest request = LockRequest.of("a", "b").waitTime(Duration.ofSeconds(1));
		assertThat(this.engine.tryAcquire(request)).isEmpty();
		held.close();
	}

	@Test
	void firstQuestionIsAskedHoweverShortTheWaitTime() {
		try (LockHandle late = lateRequest("late")) {
			assertThat(late.isHeld()).isTrue();
		}
	}

	@Test
	void onlyTheFirstQuestionIsAskedAfterTheDeadline() {
		ownedElsewhere("late", LEASE);
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> lateRequest("late"));
		assertThat(this.backend.steps()).containsExactly("acquire late");
	}

	@Test
	void lateFairQuestionLeavesNoRegistration() {
		ownedElsewhere("late", LEASE);
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> lateRequest(request("late").fair(true)));
		assertThat(this.backend.steps()).containsExactly("acquire late");
	}

	@Test
	void firstQuestionIsAskedAfterTheDeadlineAlsoBehindAWithdrawal() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> leaving = acquiring(waiting("k", Duration.ofSeconds(1)));
		AtomicReference<CompletableFuture<LockHandle>> next = new AtomicReference<>();
		this.backend.before("withdraw", () -> {
			releasedElsewhere("k");
			next.set(inThread(() -> this.engine.acquire(waiting("k", Duration.ofMillis(5)))));
			untilWaiting(1);
			this.time.pass(Duration.ofMillis(6));
		});
		this.time.advance(Duration.ofSeconds(1));
		assertThat(leaving).failsWithin(PATIENCE);
		Awaitility.await().until(() -> next.get() != null);
		assertThat(next.get()).succeedsWithin(PATIENCE);
	}

	private LockHandle lateRequest(String key) {
		return lateRequest(request(key));
	}

	/**
	 * Makes a request whose time runs out before the first attempt, because each look at
	 * the clock makes the clock tick.
	 */
	private LockHandle lateRequest(LockRequest request) {
		return ticking().acquire(request.waitTime(Duration.ofNanos(1)));
	}

	/**
	 * Returns an engine whose clock ticks at each look.
	 */
	private LockEngine ticking() {
		EngineTime ticking = new EngineTime() {

			@Override
			public long nanoTime() {
				RobustnessTests.this.time.pass(Duration.ofNanos(1));
				return RobustnessTests.this.time.nanoTime();
			}

			@Override
			public long wallNanos() {
				return RobustnessTests.this.time.wallNanos();
			}

			@Override
			public boolean await(Semaphore signal, long nanos) throws InterruptedException {
				return RobustnessTests.this.time.await(signal, nanos);
			}

			@Override
			public Runnable schedule(Runnable task, long delayNanos) {
				return RobustnessTests.this.time.schedule(task, delayNanos);
			}

		};
		return build(LockEngine.builder(this.backend), ticking, this.time);
	}

	@Test
	void listenerOfAReleaseFindsTheLockFree() {
		AtomicReference<LockEngine> listening = new AtomicReference<>();
		AtomicReference<Boolean> free = new AtomicReference<>();
		listening.set(build(LockEngine.builder(this.backend).listener((event) -> {
			if (event instanceof LockEvent.Released && free.get() == null) {
				free.set(false);
				free.set(listening.get().tryAcquire("k").isPresent());
			}
		})));
		listening.get().acquire("k").close();
		assertThat(free).hasValue(true);
	}

	// Errors

	@Test
	void clockThatIsSetForwardDoesNotMakeRenewalsSpin() {
		this.engine.acquire("k");
		AtomicInteger renewals = new AtomicInteger();
		this.time.suspend(Duration.ofMillis(400));
		this.backend.breaks((step) -> {
			if (renewals.incrementAndGet() > 1000) {
				this.time.pass(HOUR); // Ends a spin.
			}
			return ScriptedBackend.LOST_REQUEST.apply(step);
		});
		this.time.advance(Duration.ofSeconds(2));
		assertThat(renewals).hasValueBetween(1, 20);
	}

	/**
	 * A renewal asks for less than the extension has brought.
	 */
	@Test
	void clockThatIsSetForwardDoesNotMakeExtendedLeasesSpin() {
		LockHandle handle = this.engine.acquire("k");
		handle.extend(LEASE.multipliedBy(4));
		this.time.suspend(Duration.ofSeconds(2));
		AtomicInteger renewals = new AtomicInteger();
		this.backend.onRenew((renewal) -> {
			if (renewals.incrementAndGet() > 1000) {
				this.time.pass(HOUR); // Ends a spin.
			}
		});
		this.time.advance(Duration.ofSeconds(2));
		assertThat(renewals).hasValueBetween(1, 20);
	}

	@Test
	void errorInARenewalDoesNotEndRenewing() {
		LockHandle handle = this.engine.acquire("k");
		this.backend.next("renew", (step) -> {
			throw new StackOverflowError("test");
		});
		ignoringErrors(() -> this.time.advance(Duration.ofSeconds(11)));
		this.time.advance(Duration.ofMinutes(2));
		assertThat(handle.isHeld()).isTrue();
	}

	@Test
	void errorAfterTheSendIsCleanedUp() {
		this.backend.next("acquire", (step) -> {
			step.get();
			throw new StackOverflowError("test");
		});
		ignoringErrors(() -> this.engine.tryAcquire("k"));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(holderOf("k")).isNull();
		assertThat(this.engine.hasQueues()).isFalse();
	}

	@Test
	void errorInOneReleaseDoesNotKeepTheOtherKeys() {
		LockHandle handle = this.engine.acquire(LockRequest.of("a", "b"));
		this.backend.next("release", (step) -> {
			throw new NoClassDefFoundError("test");
		});
		ignoringErrors(handle::close);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(holderOf("a")).isNull();
		assertThat(holderOf("b")).isNull();
	}

	@Test
	void errorInOneReleaseWithoutAThreadDoesNotKeepOtherNodes() {
		LockHandle handle = this.engine.acquire(LockRequest.of("node-a", "node-b"));
		this.time.lackAThread("worker");
		this.backend.next("release", (step) -> {
			throw new NoClassDefFoundError("test");
		});
		List<CompletableFuture<Void>> closed = new ArrayList<>();
		ignoringErrors(() -> closed.add(handle.closeAsync()));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(holderOf("node-a")).isNull();
		assertThat(holderOf("node-b")).isNull();
		assertThat(closed).hasSize(1).allMatch(CompletableFuture::isDone);
	}

	static List<LockRequest> requests() {
		LockRequest one = request("k").detached(true);
		return List.of(one, one.keepTime(Duration.ofMillis(100)), one.minHoldTime(Duration.ofSeconds(1)),
				one.mode(LockMode.SHARED), one.fair(true), one.keys(List.of("k", "l")));
	}

	@ParameterizedTest
	@MethodSource("requests")
	void errorAtAnyStepOfAReleaseLeavesNoKeyHeld(LockRequest request) {
		errorAtAnyStep(request, (ours) -> ours.tryAcquire(request).orElseThrow()::close);
	}

	@ParameterizedTest
	@MethodSource("requests")
	void errorAtAnyStepOfAnAcquisitionLeavesNoKeyHeld(LockRequest request) {
		errorAtAnyStep(request, (ours) -> () -> ours.tryAcquire(request).orElseThrow().close());
	}

	/**
	 * Does something again and again, each time with an error at a later step, as if a
	 * stack was full, or there was no memory.
	 * @param action prepares what is done with the error
	 */
	private void errorAtAnyStep(LockRequest request, Function<LockEngine, Runnable> action) {
		this.backend.granting();
		AtomicInteger steps = new AtomicInteger();
		LockEngine ours = build(LockEngine.builder(this.backend).watchdogTimeout(LEASE), before(() -> {
			if (steps.getAndDecrement() == 1) {
				throw new StackOverflowError("test");
			}
		}), this.time);
		for (int uses = 0; uses < 2; uses++) {
			boolean failed = true;
			for (int step = 1; failed; step++) {
				IntStream.range(0, uses).forEach((use) -> ours.tryAcquire(request).orElseThrow().close());
				this.time.advance(Duration.ofSeconds((request.keepTime() != null) ? 0 : 2));
				Runnable prepared = action.apply(ours);
				steps.set(step);
				ignoringErrors(prepared);
				failed = steps.getAndSet(0) <= 0;
				this.time.advance(LEASE.plusSeconds(1));
				assertThat(holderOf("k")).as("after %s uses and an error at step %s", uses, step).isNull();
				assertThat(ours.hasQueues()).as("after %s uses and an error at step %s", uses, step).isFalse();
				assertThat(ours.keysHeld()).isZero();
			}
		}
	}

	@Test
	void errorInOneCleanUpCostsNoOther() {
		Sweeper sweeper = new Sweeper(new ForwardingLockBackend(this.store) {

			@Override
			public void forget(Claim claim) {
				if (claim.key().equals("broken")) {
					throw new NoClassDefFoundError("test");
				}
				super.forget(claim);
			}

		}, this.time, this.time);
		sweeper.forget(Claim.of("broken", "other#1:2", "other#1", LEASE));
		ownedElsewhere("k", HOUR);
		sweeper.forget(Claim.of("k", "other#1:1", "other#1", HOUR));
		for (int i = 0; i < 10; i++) {
			ignoringErrors(() -> this.time.advance(Duration.ofMillis(200)));
		}
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void errorInOneBatchOfRenewalsCostsNoOther() {
		LockBackend broken = new ForwardingLockBackend(this.store) {

			@Override
			public int largestBatch() {
				return 1;
			}

			@Override
			public List<Boolean> renew(List<Renewal> renewals) {
				if (renewals.get(0).key().equals("broken")) {
					throw new NoClassDefFoundError("test");
				}
				return super.renew(renewals);
			}

		};
		LockEngine ours = build(LockEngine.builder(broken).watchdogTimeout(LEASE), this.time,
				workers((worker, task) -> {
					try {
						task.run();
					}
					catch (IllegalStateException ex) {
						assertThat(ex).hasRootCauseInstanceOf(NoClassDefFoundError.class);
					}
				}));
		ours.acquire("broken");
		// The batches come in no order: one of many is behind the broken one.
		List<LockHandle> others = IntStream.range(0, 50).mapToObj((i) -> ours.acquire("k" + i)).toList();
		this.time.advance(LEASE.multipliedBy(2));
		assertThat(others).allMatch(LockHandle::isHeld);
	}

	@Test
	void lockForWhichNoAlarmCouldBeSetIsGivenBack() {
		this.time.lackAThread("timer");
		ignoringErrors(() -> this.engine.tryAcquire("k"));
		this.time.advance(Duration.ofSeconds(1));
		this.engine.acquire("other");
		this.time.advance(Duration.ofMinutes(1));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void vacantKeyIsGivenBackIfTheHeirCannotTakeOver() {
		CompletableFuture<LockHandle> next = sleepingHeir();
		this.backend.listener()
			.onRelease(ReleaseNotification.granted("k", Waiter.exclusive(instance()), instance() + ":99", 1));
		this.time.lackAThread("timer"); // The heir cannot set an alarm.
		this.time.letThemWakeUp();
		assertThat(next).failsWithin(PATIENCE);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void keyLeftToARequestThatGivesUpIsGivenBack() {
		CompletableFuture<LockHandle> next = sleepingHeir();
		this.backend.listener().onRelease(ReleaseNotification.of("k", Waiter.exclusive(instance())));
		this.time.lackAThread("worker");
		lastThread().interrupt();
		this.time.letThemWakeUp();
		assertThat(next).failsWithin(PATIENCE);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(holderOf("k")).isNull();
	}

	/**
	 * A request to which a key was left, and which has not woken up yet.
	 */
	private CompletableFuture<LockHandle> sleepingHeir() {
		LockHandle held = this.engine.acquire("k");
		CompletableFuture<LockHandle> next = acquiring(waiting("k", HOUR));
		untilWaiting(1);
		this.time.letThemOversleep();
		held.close();
		return next;
	}

	/**
	 * The time that is left becomes too short at any moment.
	 */
	@Test
	void keysThatCannotAllBeReenteredAreReleasedWithTheOuterHandle() {
		LockEngine ticking = ticking();
		LockRequest inner = LockRequest.of("a", "b").minHoldTime(Duration.ofSeconds(1));
		AtomicBoolean reentered = new AtomicBoolean();
		for (int ticks = 0; !reentered.get(); ticks++) {
			LockHandle outer = ticking.acquire(LockRequest.of("a", "b").leaseTime(Duration.ofSeconds(2)));
			this.time.pass(Duration.ofSeconds(1).minusNanos(ticks));
			try {
				ticking.acquire(inner).close();
				reentered.set(true);
			}
			catch (IllegalArgumentException ex) {
				outer.close();
				assertThat(holderOf("a")).as("%s ticks", ticks).isNull();
			}
		}
	}

	@Test
	void renewalThatGotNoThreadIsTriedAgain() {
		LockHandle handle = this.engine.acquire("k");
		this.time.lackAThread("worker");
		ignoringErrors(() -> this.time.advance(Duration.ofSeconds(11)));
		this.time.advance(Duration.ofMinutes(1));
		assertThat(handle.isHeld()).isTrue();
	}

	@Test
	void actionThatGotNoThreadKeepsNobodyFromBeingTold() {
		List<String> told = new ArrayList<>();
		LockHandle handle = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(1)));
		handle.onLost(() -> told.add("first")).onLost(() -> told.add("second"));
		this.time.lackAThread("callback");
		this.time.advance(Duration.ofSeconds(1));
		assertThat(told).containsExactly("second");
		handle.close();
	}

	@Test
	void releaseThatGotNoThreadIsDoneByTheCaller() {
		LockHandle handle = this.engine.acquire("k");
		this.time.lackAThread("worker");
		this.time.lackAThread("callback");
		assertThat(handle.closeAsync()).isCompleted();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void cleanUpThatGotNoThreadIsTriedAgain() {
		this.backend.next("release", ScriptedBackend.LOST_REQUEST);
		this.engine.acquire("k").close();
		this.time.lackAThread("worker");
		ignoringErrors(() -> this.time.advance(Duration.ofSeconds(1)));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void keyWhoseReleaseCannotBeTriedAgainKeepsNoPlaceHere() {
		LockHandle handle = this.engine.acquire("k");
		this.backend.next("release", ScriptedBackend.LOST_REQUEST);
		this.time.lackAThread("timer");
		ignoringErrors(handle::close);
		assertThat(this.engine.hasQueues()).as("the next request of this JVM may ask").isFalse();
		this.time.advance(LEASE);
		assertThat(this.engine.tryAcquire("k")).isPresent();
	}

	@Test
	void alarmThatCannotBeSetDoesNotSilenceTheWatchdog() {
		LockHandle first = this.engine.acquire("first");
		this.time.lackAThread("timer");
		ignoringErrors(() -> this.engine.acquire(request("short").leaseTime(Duration.ofMillis(100))));
		LockHandle second = this.engine.acquire("second");
		this.time.advance(Duration.ofMinutes(2));
		assertThat(first.isHeld()).isTrue();
		assertThat(second.isHeld()).isTrue();
	}

	private static void ignoringErrors(Runnable action) {
		try {
			action.run();
		}
		catch (Error ex) {
			assertThat(ex).hasMessageContaining("test");
		}
		catch (LockBackendException ex) {
			assertThat(ex).hasMessageContaining("no more threads").hasRootCauseInstanceOf(OutOfMemoryError.class);
		}
	}

}
