package io.github.distributedlock.engine;

import io.github.distributedlock.ReleaseOn;
import io.github.distributedlock.backend.LockBackend.Renewal;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Contracts 13 (parked locks) and 15 (shutdown).
 */
class ParkingAndShutdownTests extends EngineFixture {

	@Test
	void lockThatIsGivenBackEarlyBlocksOthersForItsMinHoldTime() {
		LockHandle handle = this.engine.acquire(request("k").minHoldTime(Duration.ofMinutes(1)));
		Duration held = Duration.ofNanos(1_000_100_000); // Stores count in milliseconds.
		this.time.advance(held);
		handle.close();
		assertThat(holderOf("k")).isEqualTo(Holder.expiring(handle.owner()));
		this.time.advance(Duration.ofMinutes(1).minus(held).minusNanos(1_000));
		assertThat(holderOf("k")).isNotNull();
		this.time.advance(Duration.ofMillis(1100));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void lockThatIsGivenBackLateIsFreeAtOnce() {
		LockHandle handle = this.engine.acquire(request("k").minHoldTime(Duration.ofSeconds(2)));
		this.time.advance(Duration.ofSeconds(2));
		handle.close();
		assertThat(holderOf("k")).isNull();
		assertThat(this.backend.steps()).endsWith("release k");
	}

	@Test
	void lockMayBeLeftToRunOut() {
		LockHandle handle = this.engine.acquire(request("k").releaseOn(ReleaseOn.EXPIRY));
		this.time.advance(Duration.ofSeconds(5));
		handle.close();
		assertThat(holderOf("k").state()).isEqualTo(Holder.State.EXPIRING);
		this.time.advance(Duration.ofSeconds(24));
		assertThat(holderOf("k")).isNotNull();
		this.time.advance(Duration.ofSeconds(2));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void lateRenewalDoesNotReviveAParkedLock() {
		LockHandle handle = this.engine.acquire(request("k").minHoldTime(Duration.ofSeconds(2)));
		handle.close();
		assertThat(this.store.renew(List.of(Renewal.of(Claim.of("k", handle.owner(), "us", LEASE)))))
			.containsExactly(false);
		this.time.advance(Duration.ofMillis(2100));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void parkedLockThatTheStoreDidNotHearOfIsParkedLater() {
		LockHandle handle = this.engine.acquire(request("k").minHoldTime(Duration.ofMinutes(1)));
		this.backend.next("expire", ScriptedBackend.LOST_REQUEST);
		handle.close();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(holderOf("k").state()).isEqualTo(Holder.State.EXPIRING);
	}

	@Test
	void sameThreadDoesNotReenterAParkedLock() {
		this.engine.acquire(request("k").minHoldTime(Duration.ofSeconds(2))).close();
		assertThat(this.engine.tryAcquire("k")).isEmpty();
	}

	@Test
	void closedEngineSendsNothingForWhatItLeavesToRunOut() {
		LockHandle handle = this.engine.acquire("k");
		this.backend.before("renew", () -> this.engine.close());
		this.time.advance(Duration.ofSeconds(20));
		handle.close();
		this.time.advance(Duration.ofSeconds(5));
		assertThat(this.backend.steps()).containsExactly("acquire k", "renew k");
	}

	/**
	 * The end of the engine takes away from threads what is lost by then.
	 */
	@Test
	void handleWhoseLossIsFoundDuringTheEndIsNoLongerCurrent() {
		LockHandle handle = this.engine.acquire("k");
		handle.onLost(() -> {
		}, (action) -> this.engine.close());
		this.store.release("k", handle.owner());
		this.time.advance(Duration.ofSeconds(10));
		assertThat(handle.isHeld()).isFalse();
		assertThat(LockHandle.current()).isEmpty();
	}

	@Test
	void closedEngineListensNoLonger() {
		ownedElsewhere("k", LEASE);
		String us = this.engine.acquire("probe").owner().replaceAll(":[^:]*$", "");
		this.store.acquireOrRegister(Claim.of("k", us + ":77", us, LEASE));
		this.engine.close();
		releasedElsewhere("k");
		assertThat(holderOf("k")).as("reserved for nobody").isNull();
	}

	@Test
	void waiterThatNoticesTheEndLateWithdrawsAllTheSame() {
		ownedElsewhere("k", LEASE);
		assertThatItIsNotServedIfTheEngineEndsAfter("register");
		Awaitility.await("the withdrawal").atMost(PATIENCE).until(() -> this.backend.steps().contains("withdraw k"));
	}

	@Test
	void whatIsAcquiredByARequestThatNoticesTheEndLateIsGivenBack() {
		assertThatItIsNotServedIfTheEngineEndsAfter("acquire");
		Awaitility.await("the release").atMost(PATIENCE).until(() -> holderOf("k") == null);
	}

	private void assertThatItIsNotServedIfTheEngineEndsAfter(String last) {
		LockEngine withThreads = LockEngine.builder(this.backend).watchdogTimeout(LEASE).build();
		this.backend.next(last, (step) -> {
			Object answer = step.get();
			withThreads.close();
			return answer;
		});
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> withThreads.acquire(waiting("k", LEASE)));
	}

	@Test
	void handleThatIsClosedIsNotHeldTooLong() {
		LockEngine warning = build(
				LockEngine.builder(this.store).watchdogTimeout(LEASE).warnHeldAfter(Duration.ofSeconds(5)), this.time,
				this.time);
		int before = this.time.alarms();
		LockHandle handle = warning.acquire("k");
		assertThat(this.time.alarms()).isGreaterThan(before);
		LockHandle second = warning.acquire("k");
		int both = this.time.alarms();
		second.close();
		assertThat(this.time.alarms()).isEqualTo(both - 1);
		handle.close();
	}

	@Test
	void stoppedEngineRefusesAndAStartedOneServes() {
		this.engine.stop();
		assertThat(this.engine.isRunning()).isFalse();
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.tryAcquire("k"))
			.withMessageContaining("Lock 'k' cannot be acquired: the lock engine is stopped");
		assertThat(this.backend.steps()).isEmpty();
		this.engine.start();
		assertThat(this.engine.tryAcquire("k")).isPresent();
	}

	@Test
	void requestThatWaitedAcrossAStopAndAStartFails() {
		LockHandle held = this.engine.acquire("k");
		CompletableFuture<LockHandle> waiter = acquiring(request("k"));
		this.engine.stop();
		this.engine.start();
		assertThat(waiter).failsWithin(PATIENCE);
		held.close();
		assertThat(this.engine.hasQueues()).isFalse();
	}

	@Test
	void lockThatIsGrantedDuringTheStopIsGivenBack() {
		this.backend.after("acquire", () -> this.engine.stop());
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.acquire("k"))
			.withMessageContaining("the lock engine is stopped");
		this.time.advance(Duration.ofSeconds(1));
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void keyThatIsTooLongIsRefusedBeforeAnyIo() {
		assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> this.engine.acquire("ä".repeat(513)))
			.withMessageContaining("has 1026 bytes, but at most 1024 are allowed");
		assertThat(this.engine.tryAcquire("ä".repeat(512))).isPresent();
		LockEngine strict = build(LockEngine.builder(this.store).maxKeyBytes(3));
		assertThatExceptionOfType(IllegalArgumentException.class).isThrownBy(() -> strict.acquire("four"))
			.withMessageContaining("'four…' has 4 bytes, but at most 3");
		assertThat(this.backend.steps()).hasSize(1);
	}

}
