package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Holder;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Contract 12: a lock is handed on inside the JVM.
 */
class HandOverTests extends EngineFixture {

	private static final Duration SLICE = Duration.ofMillis(10);

	private static final Duration LONG = Duration.ofSeconds(20);

	private final LockHandle held = this.engine.acquire("k");

	@Test
	void goesOnWithTheSameOwnerAndLease() {
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG));
		this.time.pass(SLICE.dividedBy(2));
		String owner = this.held.owner();
		Duration remaining = this.held.remaining();
		LockHandle handle = handOnTo(next);
		assertThat(handle.owner()).isEqualTo(owner);
		assertThat(handle.remaining()).isEqualTo(remaining);
		assertThat(this.backend.steps()).containsExactly("acquire k");
		assertThat(events(LockEvent.Acquired.class)).hasSize(2);
		assertThat(events(LockEvent.Released.class)).hasSize(1);
		handle.close();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void isRenewedThroughout() {
		LockHandle handle = handOnTo(acquiring(waiting("k", LONG)));
		this.time.advance(LEASE.multipliedBy(3));
		assertThat(handle.isHeld()).isTrue();
	}

	@Test
	void yieldsToOtherJvmsWhenTheSliceIsOver() {
		LockEngine other = engine(this.store, "other");
		CompletableFuture<LockHandle> theirs = inThread(() -> other.acquire(waiting("k", LONG)));
		untilWaiting(1);
		CompletableFuture<LockHandle> ours = acquiring(waiting("k", LONG));
		this.time.pass(SLICE);
		this.held.close();
		assertThat(theirs).succeedsWithin(PATIENCE);
		untilWaiting(1);
		assertThat(this.backend.steps()).as("one step").containsExactly("acquire k", "yield k");
		theirs.join().close();
		assertThat(ours).succeedsWithin(PATIENCE);
		assertThat(this.backend.steps()).as("one more").containsExactly("acquire k", "yield k", "register k");
	}

	@Test
	void beginsAnotherSliceIfNobodyElseWaits() {
		CompletableFuture<LockHandle> second = acquiring(waiting("k", LONG));
		CompletableFuture<LockHandle> third = acquiring(waiting("k", LONG));
		this.time.pass(SLICE);
		LockHandle handle = handOnTo(second);
		assertThat(this.backend.steps()).containsExactly("acquire k", "yield k");
		this.time.pass(SLICE.dividedBy(2));
		handle.close();
		assertThat(third).succeedsWithin(PATIENCE);
		assertThat(this.backend.steps()).containsExactly("acquire k", "yield k");
	}

	@Test
	void beginsTheSliceWhenTheAnswerIsHere() {
		this.backend.after("acquire", () -> this.time.pass(SLICE.multipliedBy(2)));
		LockHandle first = this.engine.acquire("far");
		CompletableFuture<LockHandle> next = acquiring(waiting("far", LONG));
		first.close();
		assertThat(succeeded(next).owner()).isEqualTo(first.owner());
	}

	@Test
	void staysHereWithinTheSliceAlsoWithAnotherLease() {
		LockEngine other = engine(this.store, "other");
		CompletableFuture<LockHandle> theirs = inThread(() -> other.acquire(waiting("k", LONG)));
		untilWaiting(1);
		LockHandle handle = handOnTo(acquiring(waiting("k", LONG).leaseTime(Duration.ofSeconds(7))));
		assertThat(handle.isHeld()).isTrue();
		assertThat(theirs).isNotDone();
	}

	@Test
	void costsOneStepForAFixedLease() {
		Duration lease = Duration.ofSeconds(7);
		LockHandle handle = handOnTo(acquiring(waiting("k", LONG).leaseTime(lease)));
		assertThat(this.backend.steps()).containsExactly("acquire k", "pass k");
		assertThat(handle.remaining()).isBetween(lease.minusMillis(100), lease);
		this.time.advance(lease);
		assertThat(handle.isHeld()).isFalse();
		assertThat(lossReasons()).containsExactly(LockEvent.Lost.Reason.LEASE_EXPIRED);
		assertThat(holderOf("k")).as("no longer on the server than that").isNull();
	}

	@Test
	void isRenewedFirstWhenItComesFromAFixedLease() {
		this.held.close();
		LockHandle fixed = this.engine.acquire(request("k").leaseTime(Duration.ofSeconds(2)));
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG));
		this.backend.forgetSteps();
		fixed.close();
		LockHandle handle = succeeded(next);
		assertThat(this.backend.steps()).containsExactly("pass k");
		assertThat(handle.remaining()).isGreaterThan(LEASE.dividedBy(2));
		this.time.advance(LEASE);
		assertThat(handle.isHeld()).isTrue();
	}

	@Test
	void asksTheStoreIfTheLeaseCouldNotBeRenewedInTime() {
		LockEngine patient = build(LockEngine.builder(this.backend).localSlice(LEASE).watchdogTimeout(LEASE));
		LockHandle first = patient.acquire("long");
		CompletableFuture<LockHandle> second = inThread(() -> patient.acquire(waiting("long", LEASE)));
		untilWaiting(1);
		this.time.holdBackRenewals();
		this.time.advance(LEASE.multipliedBy(2).dividedBy(3));
		this.backend.forgetSteps();
		first.close();
		assertThat(succeeded(second).remaining()).isGreaterThan(LEASE.dividedBy(2));
		assertThat(this.backend.steps()).containsExactly("pass long");
		this.time.runHeldBack();
	}

	@Test
	void doesNotInheritAnExtendedLease() {
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG));
		this.held.extend(LEASE.multipliedBy(100));
		LockHandle handle = handOnTo(next);
		assertThat(handle.remaining()).isLessThan(LEASE);
		handle.close();
		assertThat(this.backend.steps()).containsExactly("acquire k", "renew k", "pass k", "release k");
	}

	@Test
	void extensionThatIsCarriedOutAfterTheCloseDoesNotReachTheNextOne() {
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG));
		this.backend.before("renew", () -> handOnTo(next));
		assertThat(this.held.extend(LEASE.multipliedBy(100))).isFalse();
		assertThat(next.join().remaining()).isLessThan(LEASE);
		assertThat(next.join().owner()).isNotEqualTo(this.held.owner());
	}

	@Test
	void extensionThatWasNotAnsweredDoesNotReachTheNextOne() {
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG));
		AtomicReference<Supplier<?>> late = new AtomicReference<>();
		this.backend.next("renew", (step) -> {
			late.set(step);
			return ScriptedBackend.LOST_REQUEST.apply(step);
		});
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.held.extend(LEASE.multipliedBy(100)));
		LockHandle handle = handOnTo(next);
		assertThat(late.get().get()).as("owned by the one before").isEqualTo(List.of(false));
		assertThat(handle.owner()).isNotEqualTo(this.held.owner());
		assertThat(holderOf("k")).isEqualTo(Holder.owner(handle.owner()));
	}

	@Test
	void lossReachesWhoHoldsThenAndNobodyElse() {
		List<String> told = new CopyOnWriteArrayList<>();
		this.held.onLost(() -> told.add("first"));
		LockHandle handle = handOnTo(acquiring(waiting("k", LONG).name("second")));
		handle.onLost(() -> told.add("second"));
		this.store.release("k", handle.owner());
		this.time.advance(LEASE.dividedBy(2));
		assertThat(handle.isHeld()).isFalse();
		assertThat(told).containsExactly("second");
		assertThat(events(LockEvent.Lost.class)).singleElement().extracting(LockEvent.Lost::name).isEqualTo("second");
	}

	@Test
	void earlierHandleDoesNotTouchTheNextOne() {
		LockHandle handle = handOnTo(acquiring(waiting("k", LONG)));
		this.held.close();
		assertThat(this.held.isHeld()).isFalse();
		assertThatIllegalStateException().isThrownBy(() -> this.held.extend(LEASE.multipliedBy(2)));
		assertThat(handle.isHeld()).isTrue();
		assertThat(this.backend.steps()).containsExactly("acquire k");
	}

	static List<LockRequest> notHandedOn() {
		return List.of(waiting("k", LONG).fenced(true), LockRequest.of("k", "other").waitTime(LONG));
	}

	@ParameterizedTest
	@MethodSource("notHandedOn")
	void doesNotConcernOtherRequests(LockRequest request) {
		LockHandle handle = handOnTo(acquiring(request));
		assertThat(this.backend.steps()).startsWith("acquire k", "release k");
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG));
		handle.close();
		succeeded(next);
		assertThat(this.backend.steps()).doesNotContain("pass k", "yield k");
	}

	@Test
	void doesNotConcernAKeyThatHasToRest() {
		this.held.close();
		LockHandle resting = this.engine.acquire(request("k").minHoldTime(Duration.ofSeconds(1)));
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG));
		resting.close();
		assertThat(next).isNotDone();
		assertThat(holderOf("k").state()).isEqualTo(Holder.State.EXPIRING);
		Awaitility.await().until(() -> this.backend.steps().contains("register k"));
		untilWaiting(1);
		this.time.advance(Duration.ofSeconds(2));
		succeeded(next);
	}

	@Test
	void staysHereWithinTheSliceAlsoWhereTheStoreKeepsNoPlaces() {
		this.backend.deaf(true);
		this.time.pass(SLICE.dividedBy(2));
		handOnTo(acquiring(waiting("k", LONG)));
		assertThat(this.backend.steps()).containsExactly("acquire k");
	}

	@Test
	void yieldsToPlacesAlsoWhereNothingIsHeard() {
		this.backend.silent();
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG));
		this.time.pass(SLICE);
		handOnTo(next);
		assertThat(this.backend.steps()).containsExactly("acquire k", "yield k");
	}

	@Test
	void leavesTheKeyFreeForASliceWhereTheStoreKeepsNoPlaces() {
		this.backend.deaf(true);
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG));
		this.time.pass(SLICE);
		this.held.close();
		Awaitility.await("given back").until(() -> this.backend.steps().contains("release k"));
		untilWaiting(1);
		this.time.advance(SLICE.minusMillis(1));
		assertThat(holderOf("k")).as("free for whoever polls").isNull();
		assertThat(next).isNotDone();
		this.time.advance(Duration.ofMillis(1));
		assertThat(succeeded(next).owner()).isNotEqualTo(this.held.owner());
		assertThat(this.backend.steps()).containsExactly("acquire k", "release k", "register k");
	}

	@Test
	void pollsOnIfAnotherJvmTookTheKeyMeanwhile() {
		this.backend.deaf(true);
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG));
		this.time.pass(SLICE);
		this.held.close();
		Awaitility.await("given back").until(() -> this.backend.steps().contains("release k"));
		ownedElsewhere("k", LEASE);
		untilWaiting(1);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(next).isNotDone();
		releasedElsewhere("k");
		this.time.advance(Duration.ofMillis(500));
		assertThat(next).succeedsWithin(PATIENCE);
	}

	@Test
	void canBeTurnedOff() {
		LockEngine off = build(LockEngine.builder(this.backend).localSlice(Duration.ZERO));
		LockHandle first = off.acquire("off");
		CompletableFuture<LockHandle> second = inThread(() -> off.acquire(waiting("off", LONG)));
		untilWaiting(1);
		this.backend.forgetSteps();
		first.close();
		succeeded(second);
		assertThat(this.backend.steps()).containsExactly("release off", "acquire off");
	}

	@Test
	void goesToTheNextIfTheFirstHasGivenUp() {
		CompletableFuture<LockHandle> second = acquiring(waiting("k", LONG));
		Thread impatient = lastThread();
		CompletableFuture<LockHandle> third = acquiring(waiting("k", LONG));
		this.time.letThemOversleep();
		this.held.close();
		impatient.interrupt();
		this.time.letThemWakeUp();
		assertThat(second).failsWithin(PATIENCE);
		succeeded(third);
		assertThat(this.backend.steps()).containsExactly("acquire k");
	}

	@Test
	void isReleasedIfWhoWasToHaveItHasGivenUp() {
		CompletableFuture<LockHandle> second = acquiring(waiting("k", LONG));
		this.time.letThemOversleep();
		this.held.close();
		lastThread().interrupt();
		this.time.letThemWakeUp();
		assertThat(second).failsWithin(PATIENCE);
		advanceUntil(Duration.ofMillis(1), () -> holderOf("k") == null);
	}

	@Test
	void isReleasedIfTheEngineIsStoppedMeanwhile() {
		CompletableFuture<LockHandle> second = acquiring(waiting("k", LONG));
		this.time.letThemOversleep();
		this.held.close();
		this.engine.stop();
		this.time.letThemWakeUp();
		assertThat(second).failsWithin(PATIENCE);
		advanceUntil(Duration.ofMillis(1), () -> holderOf("k") == null);
	}

	static List<ScriptedBackend.Fault> faults() {
		return List.of(ScriptedBackend.LOST_REQUEST, ScriptedBackend.LOST_REPLY, ScriptedBackend.NOT_NOW);
	}

	@ParameterizedTest
	@MethodSource("faults")
	void survivesAStepThatFails(ScriptedBackend.Fault fault) {
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG).leaseTime(Duration.ofSeconds(19)));
		this.backend.next("pass", fault);
		this.held.close();
		advanceUntil(Duration.ofMillis(10), next::isDone);
		LockHandle handle = succeeded(next);
		assertThat(handle.isHeld()).isTrue();
		assertThat(holderOf("k")).isEqualTo(Holder.owner(handle.owner()));
		handle.close();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void isReleasedIfAnErrorComesBeforeItIsPassedOn() {
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG));
		this.time.pass(Duration.ofMillis(10)); // The slice.
		this.backend.next("grantsTo", (step) -> {
			throw new StackOverflowError("test");
		});
		this.held.close();
		assertThat(next).failsWithin(PATIENCE);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void keyThatIsGoneAtThePassIsReportedAsLost() {
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG).leaseTime(LEASE.dividedBy(2)));
		this.store.release("k", this.held.owner());
		this.held.close();
		succeeded(next);
		assertThat(lossReasons()).containsExactly(LockEvent.Lost.Reason.TAKEN);
	}

	@Test
	void nextRequestReportsTheLossOfAKeyGoneBeforeTheRelease() {
		this.held.close();
		LockHandle first = this.engine.acquire(request("k").name("first"));
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG).name("second"));
		this.store.release("k", first.owner());
		this.time.pass(SLICE);
		assertThat(first.release()).as("no command").isTrue();
		assertThat(succeeded(next).owner()).as("asked after the slice").isNotEqualTo(first.owner());
		assertLost("first", first);
		assertThat(next.join().isHeld()).isTrue();
	}

	@Test
	void renewalThatFindsTheKeyGoneWhileNobodyHasItNamesTheLastHold() {
		this.held.close();
		LockHandle first = this.engine.acquire(request("k").name("first"));
		CompletableFuture<LockHandle> next = acquiring(waiting("k", Duration.ofMinutes(2)).name("second"));
		this.time.letThemOversleep();
		this.store.release("k", first.owner());
		assertThat(first.release()).isTrue();
		this.time.advance(LEASE.dividedBy(2));
		this.time.letThemWakeUp();
		assertThat(succeeded(next).isHeld()).isTrue();
		assertLost("first", first);
	}

	private void assertLost(String name, LockHandle handle) {
		assertThat(events(LockEvent.Lost.class)).singleElement().satisfies((lost) -> {
			assertThat(lost.name()).isEqualTo(name);
			assertThat(lost.key()).isEqualTo("k");
			assertThat(lost.owner()).isEqualTo(handle.owner());
			assertThat(lost.reason()).isEqualTo(LockEvent.Lost.Reason.TAKEN);
		});
	}

	@Test
	void isCleanedUpIfItIsLostWhileNobodyHasIt() {
		this.held.close();
		this.backend.next("acquire", ScriptedBackend.LOST_REPLY);
		CompletableFuture<LockHandle> acquiring = acquiring(waiting("k", LONG));
		this.time.advance(Duration.ofSeconds(1));
		LockHandle unsettled = succeeded(acquiring);
		CompletableFuture<LockHandle> next = acquiring(waiting("k", Duration.ofMinutes(2)));
		this.time.letThemOversleep();
		unsettled.close();
		this.time.holdBackRenewals();
		this.time.advance(LEASE);
		this.store.acquire(io.github.distributedlock.backend.Claim.of("k", unsettled.owner(), "us", LEASE));
		this.time.letThemWakeUp();
		advanceUntil(Duration.ofMillis(100), next::isDone);
		assertThat(succeeded(next).owner()).isNotEqualTo(unsettled.owner());
	}

	@Test
	void lendsToOthersWhileTheNextOneIsAsleep() {
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG));
		this.time.letThemOversleep();
		this.held.close();
		LockHandle borrowed = this.engine.acquire(waiting("k", LONG));
		assertThat(next).isNotDone();
		this.time.letThemWakeUp();
		untilWaiting(1);
		CompletableFuture<LockHandle> late = acquiring(waiting("k", LONG));
		borrowed.close();
		LockHandle handle = succeeded(next);
		assertThat(late).as("the late request came after one that was awake").isNotDone();
		handle.close();
		succeeded(late);
		assertThat(this.backend.steps()).containsExactly("acquire k");
	}

	@Test
	void lendsOnlySoOften() {
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG));
		this.time.letThemOversleep();
		this.held.close();
		for (int i = 0; i < LocalKey.MOST_LOANS; i++) {
			this.engine.acquire(waiting("k", LONG)).close();
		}
		assertThat(this.engine.tryAcquire("k")).as("once more").isEmpty();
		this.time.letThemWakeUp();
		succeeded(next);
	}

	@Test
	void nextOneLearnsThatWhoBorrowedHasLostIt() {
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG));
		this.time.letThemOversleep();
		this.held.close();
		LockHandle borrowed = this.engine.acquire(waiting("k", LONG));
		this.time.letThemWakeUp();
		untilWaiting(1);
		this.store.release("k", borrowed.owner());
		this.time.advance(LEASE.dividedBy(2));
		assertThat(borrowed.isHeld()).isFalse();
		assertThat(succeeded(next).owner()).isNotEqualTo(borrowed.owner());
	}

	@Test
	void nextOneLearnsThatWhoBorrowedLetItRest() {
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG));
		this.time.letThemOversleep();
		this.held.close();
		LockHandle borrowed = this.engine.acquire(waiting("k", LONG).minHoldTime(Duration.ofSeconds(1)));
		this.time.letThemWakeUp();
		untilWaiting(1);
		borrowed.close();
		assertThat(next).isNotDone();
		advanceUntil(Duration.ofMillis(10), next::isDone);
		succeeded(next);
	}

	@Test
	void isReleasedByTheBorrowerIfTheHeirHasGivenUp() {
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG));
		this.time.letThemOversleep();
		this.held.close();
		LockHandle borrowed = this.engine.acquire(waiting("k", LONG));
		lastThread().interrupt();
		this.time.letThemWakeUp();
		assertThat(next).failsWithin(PATIENCE);
		assertThat(borrowed.isHeld()).isTrue();
		borrowed.close();
		assertThat(holderOf("k")).isNull();
		assertThat(hasQueues()).isFalse();
	}

	private LockHandle handOnTo(CompletableFuture<LockHandle> next) {
		this.held.close();
		return succeeded(next);
	}

}
