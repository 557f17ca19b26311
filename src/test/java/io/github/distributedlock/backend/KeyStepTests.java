package io.github.distributedlock.backend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.backend.LockBackend.HandOverResult;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link KeyStep} by a clock that stands still unless a test moves it: rules
 * that depend on the time, or on an order of steps that is rare.
 */
class KeyStepTests {

	private static final Duration RESERVATION = Duration.ofMillis(500);

	private static final Duration SILENCE = Duration.ofMillis(1500);

	private static final Duration LEASE = Duration.ofMinutes(1);

	private final Store store = new Store();

	@Test
	void fencingTokenGrowsWhileTheClockStandsOrIsSetBack() {
		long first = fencingToken("a:1");
		long second = fencingToken("a:2");
		this.store.passes(Duration.ofHours(-1));
		assertThat(fencingToken("a:3")).isGreaterThan(second);
		assertThat(second).isGreaterThan(first);
	}

	@Test
	void waiterIsToldHowManyComeFirst() {
		acquired(claim("h:1"));
		assertThat(this.store.acquire(claim("c:1")).ahead()).as("without a place").isNull();
		assertThat(this.store.acquireOrRegister(claim("a:1")).ahead()).isZero();
		assertThat(this.store.acquireOrRegister(fair("b:1")).ahead()).isOne();
		assertThat(this.store.acquireOrRegister(claim("a:1")).ahead()).isZero();
		this.store.release("k", "h:1");
		assertThat(this.store.acquireOrRegister(fair("b:1")).ahead()).isZero();
	}

	@Test
	void permitPassesNoWaiterOfItsOwnInstance() {
		acquired(permit("x:1").lease(SILENCE.dividedBy(3)));
		acquired(permit("x:2"));
		waits(permit("a:1"));
		this.store.passes(SILENCE.dividedBy(2));
		assertThat(this.store.acquire(permit("a:2")).acquired()).isFalse();
		assertThat(this.store.sent).containsExactly(ReleaseNotification.of("k", Waiter.permits("a", 2)));
		acquired(permit("a:1"));
	}

	@Test
	void waiterThatHasNotAskedLatelyIsGrantedNothing() {
		acquired(claim("h:1"));
		waits(claim("a:1").number(1));
		this.store.passes(SILENCE);
		this.store.release("k", "h:1");
		assertThat(this.store.state.holders()).isEqualTo("exclusive reserved for a");
		assertThat(this.store.sent).containsExactly(ReleaseNotification.of("k", Waiter.exclusive("a")));
	}

	@Test
	void waiterThatHasAskedLatelyIsGrantedTheKey() {
		acquired(claim("h:1"));
		waits(claim("a:1").number(1));
		this.store.passes(SILENCE.minusNanos(1_000));
		this.store.release("k", "h:1");
		assertThat(this.store.state.holders()).isEqualTo("exclusive held by a:1");
		assertThat(this.store.sent).containsExactly(ReleaseNotification.granted("k", Waiter.exclusive("a"), "a:1", 1));
	}

	@Test
	void claimOfATimeToComeIsNotGrantedWhenThatTimeComes() {
		Duration setBack = SILENCE.multipliedBy(3);
		acquired(reader("r:1"));
		waits(claim("a:1").number(1));
		this.store.passes(setBack.negated());
		waits(reader("b:1"));
		this.store.passes(setBack);
		this.store.release("k", "r:1");
		assertThat(this.store.state.holders()).isEqualTo("shared reserved for b");
	}

	@Test
	void waiterThatAsksIsAliveHoweverLongItWasSilent() {
		acquired(claim("h:1").lease(SILENCE));
		waits(fair("a:1"));
		this.store.passes(SILENCE.dividedBy(2));
		waits(fair("b:1"));
		this.store.passes(SILENCE.dividedBy(2));
		acquired(fair("a:1"));
	}

	/**
	 * The waiter is not fair. Each step of a fair waiter is a sign of life.
	 */
	@Test
	void waiterThatAsksForAPermitKeepsItsTurnHoweverLongItWasSilent() {
		acquired(permit("h:1").lease(SILENCE));
		acquired(permit("i:1"));
		waits(permit("a:1"));
		this.store.passes(SILENCE.dividedBy(2));
		waits(permit("b:1"));
		this.store.passes(SILENCE.dividedBy(2));
		acquired(permit("a:1"));
	}

	@Test
	void waiterIsPardonedOnceUnlessItAsks() {
		acquired(claim("h:1").lease(SILENCE));
		waits(fair("a:1"));
		waits(fair("b:1"));
		this.store.passes(SILENCE.multipliedBy(2));
		waits(fair("b:1")); // Pardons both.
		this.store.passes(SILENCE.multipliedBy(2));
		waits(fair("c:1"));
		assertThat(this.store.state.holders()).isEqualTo("fair reserved for b:1");
		assertThat(this.store.state.waiters()).doesNotContain("a:1");
	}

	@Test
	void reservationForAFairRequestIsNotLongerSinceTheClockWasSetBack() {
		acquired(claim("h:1"));
		waits(fair("a:1"));
		this.store.release("k", "h:1");
		this.store.passes(Duration.ofHours(-1));
		assertThat(this.store.acquireOrRegister(fair("b:1")).remaining()).isEqualTo(RESERVATION);
	}

	@Test
	void lastReaderOfAnInstanceTakesItsReservationAlong() {
		acquired(claim("h:1"));
		waits(reader("a:1"));
		this.store.release("k", "h:1");
		acquired(reader("a:1"));
		waits(claim("b:1"));
		this.store.release("k", "a:1");
		assertThat(this.store.state.holders()).isEqualTo("exclusive reserved for b");
	}

	@Test
	void downgradeLetsReadersInBehindADeadWriter() {
		acquired(claim("h:1"));
		waits(claim("w:1"));
		this.store.passes(SILENCE);
		waits(reader("r:1"));
		this.store.downgrade("k", "h:1");
		assertThat(this.store.sent).containsExactly(ReleaseNotification.of("k", Waiter.shared("r")));
	}

	@Test
	void instanceThatYieldsLosesThePlaceThatItHad() {
		acquired(claim("a:1"));
		waits(claim("a:2"));
		waits(claim("b:1"));
		HandOverResult passed = this.store.pass("a:1", claim("a:2"), true);
		assertThat(passed.owned()).isTrue();
		assertThat(passed.next().acquired()).isFalse();
		assertThat(this.store.state.holders()).isEqualTo("exclusive reserved for b");
		assertThat(this.store.state.waiters()).startsWith("exclusive a ");
	}

	@Test
	void aForgottenClaimLeavesThePlaceToALaterClaimOfTheSameWaiter() {
		acquired(claim("h:1"));
		waits(claim("a:1").number(1));
		waits(claim("a:2").number(2));
		this.store.forget(claim("a:1"));
		this.store.release("k", "h:1");
		assertThat(this.store.state.holders()).isEqualTo("exclusive held by a:2");
	}

	@Test
	void keyWithoutItsTimeHasNoHolder() {
		acquired(claim("h:1"));
		this.store.passes(LEASE);
		assertThat(this.store.inspect("k").holders()).isEmpty();
		acquired(claim("a:1"));
	}

	@Test
	void keyWhoseTokenIsAheadOfTheTimeIsNotForgotten() {
		KeyState state = KeyState.of("-", 0, "-", 5);
		assertThat(state.isObsolete(5)).isFalse();
		assertThat(state.isObsolete(6)).isTrue();
	}

	@Test
	void stepThatWasNotWrittenNotifiesNobody() {
		acquired(claim("h:1"));
		waits(claim("a:1"));
		this.store.conflicts = 1;
		this.store.release("k", "h:1");
		assertThat(this.store.sent).hasSize(1);
	}

	@Test
	void keyThatOthersChangeAgainAndAgainMayBeAskedForLater() {
		this.store.conflicts = Integer.MAX_VALUE;
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.store.acquire(claim("a:1")))
			.matches(LockBackendException::isRetryable, "retryable")
			.matches(LockBackendException::isWithoutEffect, "without effect");
	}

	@Test
	void interruptedThreadStaysInterruptedAfterAConflict() {
		this.store.conflicts = 2;
		Thread.currentThread().interrupt();
		this.store.acquire(claim("a:1"));
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void renewalThatFailsBehindAnotherOneMayBeCarriedOut() {
		acquired(claim("a:1"));
		this.store.free = 1;
		this.store.conflicts = Integer.MAX_VALUE;
		List<Renewal> renewals = List.of(new Renewal("k", "a:1", LEASE.multipliedBy(2), LockMode.EXCLUSIVE),
				new Renewal("k", "a:1", LEASE.multipliedBy(3), LockMode.EXCLUSIVE));
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.store.renew(renewals))
			.matches((failure) -> !failure.isWithoutEffect(), "may be carried out");
	}

	private static Claim claim(String owner) {
		return Claim.of("k", owner, Claim.instanceOf(owner), LEASE);
	}

	private static Claim fair(String owner) {
		return claim(owner).fair(true);
	}

	private static Claim reader(String owner) {
		return claim(owner).mode(LockMode.SHARED);
	}

	private static Claim permit(String owner) {
		return claim(owner).permits(2);
	}

	private void acquired(Claim claim) {
		assertThat(this.store.acquireOrRegister(claim).acquired()).isTrue();
	}

	private void waits(Claim claim) {
		assertThat(this.store.acquireOrRegister(claim).acquired()).isFalse();
	}

	private long fencingToken(String owner) {
		long token = this.store.acquire(claim(owner).fenced(true)).fencingToken();
		this.store.release("k", owner);
		return token;
	}

	/**
	 * A store of one key, which is written as text and read again.
	 */
	private static final class Store extends OptimisticLockBackend {

		private final List<ReleaseNotification> sent = new ArrayList<>();

		private long now = 1_800_000_000_000_000L;

		private KeyState state = KeyState.FREE;

		/**
		 * How many writes find that another one came between.
		 */
		private int conflicts;

		/**
		 * How many writes come before those.
		 */
		private int free;

		private Store() {
			super(RESERVATION, SILENCE);
		}

		private void passes(Duration time) {
			this.now += KeyStep.micros(time);
		}

		@Override
		protected Read read(String key) {
			return new Read(this.state, this.now, this.state);
		}

		@Override
		protected boolean write(String key, Read before, KeyState after) {
			if (this.free > 0) {
				this.free--;
			}
			else if (this.conflicts > 0) {
				this.conflicts--;
				return false;
			}
			this.state = KeyState.of(after.holders(), after.end(), after.waiters(), after.fencingToken());
			return true;
		}

		@Override
		protected void send(ReleaseNotification notification) {
			this.sent.add(notification);
		}

	}

}
