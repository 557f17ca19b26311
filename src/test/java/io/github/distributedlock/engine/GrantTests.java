package io.github.distributedlock.engine;

import io.github.distributedlock.ReleaseOn;
import io.github.distributedlock.backend.LockBackend.Renewal;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.ReleaseNotification;
import io.github.distributedlock.backend.Waiter;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for a released key that comes with the notification of the release.
 */
class GrantTests extends EngineFixture {

	private static final Duration LONG = Duration.ofSeconds(60);

	/** The lease of a grant, until the first renewal. */
	private static final Duration SHORT = Duration.ofSeconds(3);

	private final List<Claim> registered = new CopyOnWriteArrayList<>();

	private final List<ReleaseNotification> grants = new CopyOnWriteArrayList<>();

	@BeforeEach
	void grants() {
		this.backend.granting();
		this.backend.onRegister(this.registered::add);
		ownedElsewhere("k", LONG);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void isHeldWithoutAskingAgain(boolean fair) {
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG).fair(fair));
		this.backend.forgetSteps();
		releasedElsewhere("k");
		assertThat(waiter).succeedsWithin(PATIENCE);
		assertThat(this.backend.steps()).isEmpty();
		assertThat(waiter.join().isHeld()).isTrue();
		assertThat(holderOf("k")).isEqualTo(Holder.owner(waiter.join().owner()));
		waiter.join().close();
		assertThat(holderOf("k")).isNull();
		assertThat(hasQueues()).isFalse();
	}

	/** The server may have given the key to others since the grant. */
	@Test
	void grantForAnEarlierQuestionIsNotAccepted() {
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		this.time.advance(Duration.ofMillis(600));
		assertThat(this.registered).extracting(Claim::number).containsExactly(1L, 2L);
		this.backend.forgetSteps();
		hears(granted(this.registered.get(0)));
		assertAsks("register k");
		assertThat(waiter).isNotDone();
		hears(granted(this.registered.get(2)));
		assertThat(waiter).succeedsWithin(PATIENCE);
	}

	@Test
	void leaseCountsFromTheQuestion() {
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		this.time.advance(Duration.ofMillis(400));
		releasedElsewhere("k");
		assertThat(waiter).succeedsWithin(PATIENCE);
		assertThat(this.backend.steps()).containsExactly("acquire k", "register k");
		assertThat(left()).as("as the store").isEqualTo(lessMargin(SHORT).minusMillis(400)).isLessThan(leftInStore());
	}

	@Test
	void firstRenewalIsAfterAThirdAndGivesTheFullLease() {
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		this.time.advance(Duration.ofMillis(400));
		releasedElsewhere("k");
		assertThat(waiter).succeedsWithin(PATIENCE);
		this.backend.forgetSteps();
		this.time.advance(Duration.ofMillis(599));
		assertThat(this.backend.steps()).isEmpty();
		this.time.advance(Duration.ofMillis(1));
		assertThat(this.backend.steps()).containsExactly("renew k");
		assertThat(left()).isEqualTo(lessMargin(LEASE));
		assertThat(leftInStore()).isEqualTo(LEASE);
		assertThat(events(LockEvent.RenewedLate.class)).isEmpty();
		this.time.advance(LEASE.dividedBy(3));
		assertThat(this.backend.steps()).containsExactly("renew k", "renew k");
		this.time.advance(LEASE.multipliedBy(2));
		assertThat(waiter.join().isHeld()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 3, 4 })
	void noneIsLongerThanTheLease(int seconds) {
		Duration lease = Duration.ofSeconds(seconds);
		LockEngine engine = build(LockEngine.builder(this.backend).watchdogTimeout(lease));
		CompletableFuture<LockHandle> waiter = inThread(() -> engine.acquire(waiting("k", LONG)));
		untilWaiting(1);
		releasedElsewhere("k");
		assertThat(waiter).succeedsWithin(PATIENCE);
		assertThat(leftInStore()).isEqualTo((seconds < 3) ? lease : SHORT);
		this.time.advance(lease.multipliedBy(3));
		assertThat(waiter.join().isHeld()).isTrue();
	}

	@Test
	void isLostAtItsOwnEnd() {
		LockHandle granted = granted(waiting("k", LONG));
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		this.time.advance(lessMargin(SHORT).minusMillis(1));
		assertThat(granted.isHeld()).isTrue();
		this.time.advance(Duration.ofMillis(1));
		assertThat(granted.isHeld()).isFalse();
		assertThat(leftInStore()).as("as the margin").isEqualTo(SHORT.dividedBy(100));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(granted::checkHeld)
			.withMessageContaining("its lease of 3 s was not renewed in time");
	}

	@Test
	void isHandedOverWithinTheJvmWithoutACommand() {
		CompletableFuture<LockHandle> first = acquiring(waiting("k", LONG));
		CompletableFuture<LockHandle> second = acquiring(waiting("k", LONG));
		releasedElsewhere("k");
		assertThat(first).succeedsWithin(PATIENCE);
		this.backend.forgetSteps();
		first.join().close();
		assertThat(second).succeedsWithin(PATIENCE);
		assertThat(this.backend.steps()).isEmpty();
		this.time.advance(SHORT.dividedBy(3));
		assertThat(this.backend.steps()).containsExactly("renew k");
		assertThat(left()).isEqualTo(lessMargin(LEASE));
	}

	@Test
	void isExtendedByMoreThanItself() {
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		releasedElsewhere("k");
		assertThat(succeeded(waiter).extend(Duration.ofSeconds(10))).isTrue();
		assertThat(leftInStore()).isGreaterThanOrEqualTo(LEASE);
		this.time.advance(LEASE.multipliedBy(2));
		assertThat(waiter.join().isHeld()).isTrue();
	}

	/** A short lease might end before, if Redis is down at the release. */
	@ParameterizedTest
	@MethodSource("resting")
	void isNoneForARequestThatIsToBeLeftToRunOut(LockRequest resting) {
		LockHandle granted = granted(resting);
		assertThat(left()).isEqualTo(lessMargin(LEASE));
		granted.close();
		assertThat(leftInStore()).isGreaterThanOrEqualTo(Duration.ofSeconds(20));
	}

	static List<LockRequest> resting() {
		return List.of(waiting("k", LONG).releaseOn(ReleaseOn.EXPIRY),
				waiting("k", LONG).minHoldTime(Duration.ofSeconds(20)));
	}

	@Test
	void whoHearsOfItAfterHalfOfItsLeaseAsks() {
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		this.time.letThemOversleep();
		releasedElsewhere("k");
		this.time.advance(SHORT.dividedBy(2));
		this.backend.forgetSteps();
		this.time.letThemWakeUp();
		assertThat(waiter).succeedsWithin(PATIENCE);
		assertThat(this.backend.steps()).containsExactly("register k");
		assertThat(left()).isEqualTo(lessMargin(LEASE));
		assertThat(leftInStore()).isEqualTo(LEASE);
	}

	@Test
	void grantBeforeTheAnswerIsKept() {
		this.backend.after("register", () -> releasedElsewhere("k"));
		assertThat(this.engine.tryAcquire(waiting("k", LONG))).isPresent();
		assertThat(this.backend.steps()).containsExactly("acquire k", "register k");
	}

	@Test
	void isAnswerEnough() {
		this.backend.next("register", (step) -> {
			step.get();
			releasedElsewhere("k");
			return ScriptedBackend.LOST_REQUEST.apply(step);
		});
		LockHandle held = this.engine.acquire(waiting("k", LONG));
		assertThat(this.backend.steps()).containsExactly("acquire k", "register k");
		assertThat(held.isHeld()).isTrue();
		held.close();
		this.time.advance(Duration.ZERO);
		assertThat(this.backend.steps()).as("what was never answered may come yet").endsWith("release k", "forget k");
	}

	/**
	 * 2 a second would be 120. A subscription's heartbeat is one in five seconds besides.
	 */
	@Test
	void hundredWaitersOfThisJvmAskLessThanTwiceASecond() {
		for (int i = 0; i < 100; i++) {
			inThread(() -> this.engine.acquire(waiting("k", LONG.multipliedBy(2))));
		}
		untilWaiting(100);
		this.backend.forgetSteps();
		this.time.advance(Duration.ofSeconds(59));
		assertThat(this.backend.steps()).hasSizeBetween(59_000 / 600, 59_000 / 576).containsOnly("register k");
	}

	@Test
	void whoMayOnlyBeReservedAKeyAsksInTimeForThat() {
		this.backend.forgetSteps();
		acquiring(waiting("k", LONG).fenced(true));
		this.time.advance(Duration.ofSeconds(30));
		assertThat(this.registered).hasSizeBetween(30_000 / 500, 30_000 / 480 + 1);
	}

	@Test
	void whoHasAShortLeaseAsksInTimeForAReservation() {
		LockEngine engine = build(LockEngine.builder(this.backend).watchdogTimeout(Duration.ofMillis(1200)));
		inThread(() -> engine.acquire(waiting("k", LONG)));
		untilWaiting(1);
		this.time.advance(Duration.ofSeconds(30));
		assertThat(this.registered).hasSizeBetween(30_000 / 500, 30_000 / 480 + 1);
	}

	@Test
	void grantForAnotherOwnerIsTakenOver() {
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		String unknown = instance() + ":unknown";
		assertThat(this.store.pass("other#1:1", claim(unknown), false).owned()).isTrue();
		this.backend.forgetSteps();
		hears(ReleaseNotification.granted("k", Waiter.exclusive(instance()), unknown, 7));
		assertThat(waiter).succeedsWithin(PATIENCE);
		assertThat(last().replaced()).containsExactly(unknown);
		assertThat(this.backend.steps()).containsExactly("register k");
		assertThat(holderOf("k")).isEqualTo(Holder.owner(waiter.join().owner()));
	}

	@Test
	void grantForAnotherOwnerIsNotForgottenDuringACommand() {
		String unknown = instance() + ":unknown";
		this.backend.after("register", () -> {
			this.store.pass("other#1:1", claim(unknown), false);
			hears(ReleaseNotification.granted("k", Waiter.exclusive(instance()), unknown, 7));
		});
		assertThat(this.engine.tryAcquire(waiting("k", LONG))).isPresent();
		assertThat(this.backend.steps()).containsExactly("acquire k", "register k", "register k");
		assertThat(last().replaced()).containsExactly(unknown);
	}

	@Test
	void grantThatNobodyWaitsForIsGivenBack() {
		loseGrants();
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", Duration.ofMillis(100)));
		this.backend.next("withdraw", ScriptedBackend.NOT_NOW); // The withdrawal fails.
		this.time.advance(Duration.ofMillis(100));
		assertThat(waiter).failsWithin(PATIENCE);
		releasedElsewhere("k");
		String unknown = instance() + ":unknown";
		this.store.acquire(claim(unknown));
		hears(ReleaseNotification.granted("k", Waiter.exclusive(instance()), unknown, 1));
		Awaitility.await().untilAsserted(() -> assertThat(holderOf("k")).isNull());
		assertThat(hasQueues()).isFalse();
	}

	@Test
	void withdrawalNamesTheGrant() {
		loseGrants();
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", Duration.ofMillis(40)));
		releasedElsewhere("k");
		assertThat(this.grants).hasSize(1);
		this.backend.next("register", ScriptedBackend.LOST_REQUEST);
		this.time.advance(Duration.ofMillis(40));
		assertThat(waiter).failsWithin(PATIENCE);
		Awaitility.await().until(() -> !hasQueues());
		assertThat(this.backend.steps()).contains("withdraw k");
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void aWithdrawalThatFailsIsCleanedUp() {
		loseGrants();
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", Duration.ofMillis(40)));
		releasedElsewhere("k");
		this.backend.next("register", ScriptedBackend.LOST_REQUEST);
		this.backend.next("withdraw", ScriptedBackend.LOST_REQUEST);
		this.time.advance(Duration.ofMillis(40));
		assertThat(waiter).failsWithin(PATIENCE);
		Awaitility.await().untilAsserted(() -> assertThat(holderOf("k")).isNull());
		assertThat(this.backend.steps()).contains("forget k");
	}

	@Test
	void theSameAgainWhileItIsHeldIsNothing() {
		this.backend.onGrant((grant) -> {
			this.grants.add(grant);
			hears(grant);
		});
		LockHandle granted = granted(waiting("k", LONG));
		this.backend.forgetSteps();
		hears(this.grants.get(0));
		hears(granted(claim(granted.owner()).number(99)));
		assertThat(this.backend.steps()).isEmpty();
		assertThat(granted.isHeld()).isTrue();
		granted.close();
		assertThat(this.backend.steps()).containsExactly("release k");
	}

	/** The answer to a poll may be quicker than the message. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void theSameAgainWhileItIsReadIsNothing(boolean downgraded) {
		loseGrants();
		this.backend.next("downgrade", downgraded ? Supplier::get : ScriptedBackend.LOST_REQUEST);
		CompletableFuture<LockHandle> reader = inThread(() -> {
			try (LockHandle writer = this.engine.acquire(waiting("k", LONG))) {
				return this.engine.acquire(LockRequest.of("k").mode(LockMode.SHARED));
			}
		});
		untilWaiting(1);
		releasedElsewhere("k");
		this.time.advance(Duration.ofMillis(600));
		assertThat(reader).succeedsWithin(PATIENCE);
		assertThat(this.backend.steps()).contains("downgrade k");
		this.backend.next("withdraw", ScriptedBackend.LOST_REQUEST);
		this.backend.forgetSteps();
		hears(this.grants.get(0));
		this.time.advance(Duration.ZERO);
		assertThat(this.backend.steps()).isEmpty();
		assertThat(this.store.renew(List.of(Renewal.of(this.registered.get(0))))).as("held in the store")
			.containsExactly(true);
		assertThat(reader.join().release()).isTrue();
	}

	@Test
	void grantForAnotherOwnerIsGivenBackWhileTheKeyIsHeld() {
		LockHandle held = this.engine.acquire("l");
		this.backend.forgetSteps();
		hears(ReleaseNotification.granted("l", Waiter.exclusive(instance()), instance() + ":unknown", 1));
		this.time.advance(Duration.ZERO);
		assertThat(this.backend.steps()).containsExactly("forget l");
		assertThat(holderOf("l")).isEqualTo(Holder.owner(held.owner()));
	}

	/** A command that names a token takes the key from that token. */
	@Test
	void aTokenThatIsHeldIsNeverTakenOver() {
		this.backend.onGrant((grant) -> {
			this.grants.add(grant);
			hears(grant);
		});
		CompletableFuture<LockHandle> first = acquiring(waiting("k", LONG));
		releasedElsewhere("k");
		assertThat(first).succeedsWithin(PATIENCE);
		CompletableFuture<LockHandle> second = acquiring(waiting("k", LONG));
		this.time.letThemOversleep();
		first.join().close(); // Left to the second, which has not woken up yet.
		LockHandle borrowed = this.engine.acquire(request("k"));
		assertThat(borrowed.owner()).isEqualTo(this.grants.get(0).owner());
		hears(this.grants.get(0));
		this.time.letThemWakeUp();
		Awaitility.await().until(() -> this.time.waiting() == 1);
		assertThat(this.registered).allSatisfy((claim) -> assertThat(claim.replaced()).isEmpty());
		assertThat(borrowed.isHeld()).isTrue();
		assertThat(holderOf("k")).isEqualTo(Holder.owner(borrowed.owner()));
		borrowed.close();
		assertThat(second).succeedsWithin(PATIENCE);
	}

	@Test
	void theNextRequestTakesOverWhatWasGrantedToOneThatGaveUp() {
		loseGrants();
		CompletableFuture<LockHandle> first = acquiring(waiting("k", Duration.ofMillis(100)));
		CompletableFuture<LockHandle> second = acquiring(waiting("k", LONG));
		this.time.advance(Duration.ofMillis(60)); // After the last question.
		releasedElsewhere("k");
		String owner = this.registered.get(0).owner();
		assertThat(holderOf("k")).isEqualTo(Holder.owner(owner));
		this.backend.forgetSteps();
		this.time.advance(Duration.ofMillis(40));
		assertThat(first).failsWithin(PATIENCE);
		assertThat(second).succeedsWithin(PATIENCE);
		assertThat(this.backend.steps()).containsExactly("register k");
		assertThat(last().replaced()).containsExactly(owner);
		assertThat(last().owner()).isEqualTo(second.join().owner()).isNotEqualTo(owner);
		assertThat(holderOf("k")).isEqualTo(Holder.owner(second.join().owner()));
	}

	@Test
	void whatAnAnswerHasSettledIsNamedNoMore() {
		CompletableFuture<LockHandle> first = acquiring(waiting("k", Duration.ofMillis(100)));
		acquiring(waiting("k", LONG));
		this.time.advance(Duration.ofMillis(100));
		assertThat(first).failsWithin(PATIENCE);
		this.time.advance(Duration.ofMillis(1000));
		assertThat(this.registered).extracting(Claim::replaced)
			.contains(Set.of(this.registered.get(0).owner()))
			.endsWith(Set.of());
	}

	@Test
	void theLongestAndTheShortestHoldCountFromWhenItIsAccepted() {
		LockRequest bounded = waiting("k", LONG).maxHoldTime(Duration.ofSeconds(40));
		CompletableFuture<LockHandle> waiter = acquiring(bounded);
		this.time.advance(Duration.ofMillis(400));
		releasedElsewhere("k");
		assertThat(waiter).succeedsWithin(PATIENCE);
		this.time.advance(Duration.ofSeconds(39));
		assertThat(waiter.join().isHeld()).isTrue();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(waiter.join().isHeld()).isFalse();
	}

	/** The server counts from the moment of the grant. */
	@Test
	void aReleaseIsRetriedForAsLongAsTheServerMayKeepTheKey() {
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		this.time.letThemOversleep();
		this.time.advance(Duration.ofMillis(400));
		releasedElsewhere("k");
		this.time.advance(Duration.ofSeconds(1));
		this.time.letThemWakeUp();
		assertThat(waiter).succeedsWithin(PATIENCE);
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		waiter.join().close();
		this.time.advance(LEASE.minusMillis(1000));
		this.backend.works();
		this.backend.forgetSteps();
		this.time.advance(Duration.ofMillis(999));
		assertThat(this.backend.steps()).contains("release k");
	}

	static Stream<LockRequest> thoseThatAsk() {
		LockRequest patient = waiting("k", LONG);
		return Stream.of(patient.leaseTime(LEASE), patient.fenced(true), patient.mode(LockMode.SHARED),
				LockRequest.of("k", "l").waitTime(LONG));
	}

	@ParameterizedTest
	@MethodSource("thoseThatAsk")
	void othersAreNotGranted(LockRequest request) {
		CompletableFuture<LockHandle> waiter = acquiring(request);
		assertThat(this.registered).isNotEmpty().extracting(Claim::number).containsOnly(0L);
		releasedElsewhere("k");
		assertThat(waiter).succeedsWithin(PATIENCE);
	}

	@Test
	void whoDoesNotHearIsNotGranted() {
		this.backend.deaf(true);
		acquiring(waiting("k", LONG));
		assertThat(this.registered).isNotEmpty().extracting(Claim::number).containsOnly(0L);
	}

	@Test
	void whoeverHadToWaitRegistersAtOnceTheNextTime() {
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		releasedElsewhere("k");
		waiter.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join().close();
		this.backend.forgetSteps();
		this.engine.acquire(waiting("k", LONG)).close();
		assertThat(this.backend.steps()).containsExactly("register k", "release k");
		this.engine.acquire(waiting("k", LONG)).close();
		assertThat(this.backend.steps()).endsWith("acquire k", "release k");
	}

	@Test
	void anEngineThatIsClosedGivesItBack() {
		loseGrants();
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG));
		releasedElsewhere("k");
		LockEngine closing = this.engine;
		closing.close();
		assertThat(waiter).failsWithin(PATIENCE);
		hears(this.grants.get(0));
		Awaitility.await().untilAsserted(() -> assertThat(holderOf("k")).isNull());
	}

	/**
	 * Returns the hold of a request that waits for a grant.
	 */
	private LockHandle granted(LockRequest request) {
		CompletableFuture<LockHandle> waiter = acquiring(request);
		releasedElsewhere("k");
		return succeeded(waiter);
	}

	private Duration left() {
		return this.engine.snapshot().holds().get(0).remaining();
	}

	private Duration leftInStore() {
		return Objects.requireNonNull(this.store.acquire(claim("third#1:1")).remaining(), "remaining");
	}

	/** Returns the part of a lease in which the holder believes. */
	private static Duration lessMargin(Duration lease) {
		return lease.minus(lease.dividedBy(100));
	}

	private void loseGrants() {
		this.backend.onGrant(this.grants::add);
	}

	private void hears(ReleaseNotification grant) {
		this.backend.listener().onRelease(grant);
	}

	private Claim claim(String owner) {
		return Claim.of("k", owner, instance(), LEASE);
	}

	private static ReleaseNotification granted(Claim claim) {
		return ReleaseNotification.granted(claim.key(), claim.waiter(), claim.owner(), claim.number());
	}

	private Claim last() {
		return this.registered.get(this.registered.size() - 1);
	}

	private void assertAsks(String step) {
		Awaitility.await().untilAsserted(() -> assertThat(this.backend.steps()).containsExactly(step));
	}

}
