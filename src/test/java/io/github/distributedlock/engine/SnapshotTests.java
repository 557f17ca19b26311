package io.github.distributedlock.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LockEngine#snapshot()}: what an operator wants to know of each lock.
 */
class SnapshotTests extends EngineFixture {

	@Test
	void saysSinceWhenAKeyIsHeldAndHowOftenItWasRenewed() {
		LockHandle handle = this.engine.acquire("k");
		assertThat(hold().held()).isZero();
		assertThat(hold().renewals()).isZero();
		this.time.advance(LEASE.dividedBy(3));
		assertThat(hold().renewals()).isOne();
		this.time.advance(LEASE.dividedBy(3));
		assertThat(hold().renewals()).isEqualTo(2);
		assertThat(hold().held()).isEqualTo(LEASE.dividedBy(3).multipliedBy(2));
		handle.close();
	}

	/**
	 * The two clocks go on by a different time, as they do between any two readings.
	 */
	@Test
	void saysSinceWhenAKeyIsHeldAlwaysTheSame() {
		Instant now = Instant.ofEpochSecond(0, this.time.wallNanos());
		LockHandle handle = this.engine.acquire("k");
		assertThat(hold().since()).isEqualTo(now);
		this.time.advance(Duration.ofSeconds(1));
		this.time.suspend(Duration.ofMillis(21));
		assertThat(hold().since()).isEqualTo(now);
		handle.close();
	}

	@Test
	void namesTheThreadThatHoldsAKey() {
		LockHandle handle = this.engine.acquire("k");
		assertThat(hold().thread()).isEqualTo(Thread.currentThread().getName());
		handle.close();
	}

	@Test
	void knowsNoThreadOfADetachedHandle() {
		LockHandle handle = this.engine.acquire(LockRequest.of("k").detached(true));
		assertThat(hold().thread()).isNull();
		handle.close();
	}

	@Test
	void hasTheFencingToken() {
		LockHandle fenced = this.engine.acquire(LockRequest.of("k").fenced(true));
		assertThat(hold().fencingToken()).isEqualTo(fenced.fencingToken().getAsLong());
		fenced.close();
		LockHandle plain = this.engine.acquire("k");
		assertThat(hold().fencingToken()).isNull();
		plain.close();
	}

	@Test
	void saysForHowLongRequestsHaveWaited() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> first = acquiring(waiting("k", Duration.ofSeconds(20)));
		this.time.advance(Duration.ofSeconds(2));
		CompletableFuture<LockHandle> second = acquiring(waiting("k", Duration.ofSeconds(20)));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.engine.snapshot().queues())
			.containsOnly(Map.entry("k", new EngineSnapshot.Queue(2, Duration.ofSeconds(3))));
		releasedElsewhere("k");
		assertThat(first).succeedsWithin(PATIENCE).satisfies(LockHandle::close);
		assertThat(second).succeedsWithin(PATIENCE).satisfies(LockHandle::close);
	}

	@Test
	void knowsHowLongARequestWithoutAThreadHasWaited() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> waiting = this.engine.acquireAsync(waiting("k", Duration.ofSeconds(20)));
		this.time.advance(Duration.ofSeconds(3));
		assertThat(this.engine.snapshot().queues())
			.containsOnly(Map.entry("k", new EngineSnapshot.Queue(1, Duration.ofSeconds(3))));
		waiting.cancel(false);
		Awaitility.await("withdrawn").until(() -> this.engine.snapshot().queues().isEmpty());
	}

	/**
	 * A renewal after the release would find nothing and report a loss.
	 */
	@Test
	void leavesOutAKeyBeforeItsReleaseIsSent() {
		List<Integer> held = new ArrayList<>();
		ScriptedBackend.Fault counted = (step) -> {
			held.add(this.engine.keysHeld());
			return step.get();
		};
		this.backend.releasesTogether(true);
		this.backend.next("release", counted);
		this.backend.next("release-all", counted);
		LockHandle one = this.engine.acquire("a");
		LockHandle two = this.engine.acquire(LockRequest.of("b", "c"));
		assertThat(this.engine.keysHeld()).isEqualTo(3);
		two.close();
		one.close();
		assertThat(held).containsExactly(1, 0);
	}

	@Test
	void countsAKeyOnceWhileItIsPassedOn() {
		LockHandle first = this.engine.acquire("k");
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LEASE.multipliedBy(2)));
		List<Integer> held = new ArrayList<>();
		this.backend.before("yield", () -> held.add(this.engine.keysHeld()));
		this.time.advance(LEASE.dividedBy(3));
		first.close();
		assertThat(next).succeedsWithin(PATIENCE)
			.satisfies((handle) -> assertThat(this.engine.keysHeld()).isOne())
			.satisfies(LockHandle::close);
		assertThat(held).containsExactly(0);
		assertThat(this.engine.keysHeld()).isZero();
	}

	@Test
	void leavesOutAKeyWhoseRequestIsNotServedAnyMore() {
		this.backend.after("acquire", () -> this.engine.stop());
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.acquire("k"));
		assertThat(this.engine.keysHeld()).isZero();
	}

	@Test
	void leavesOutWhatIsLostAsSoonAsThatIsKnown() {
		LockHandle handle = this.engine.acquire("k");
		assertThat(this.store.release("k", handle.owner())).isTrue();
		this.time.holdBackRenewals();
		this.time.advance(LEASE.dividedBy(3));
		this.time.runHeldBack();
		assertThat(this.engine.snapshot().losses()).containsOnly(Map.entry(Reason.TAKEN, 1L));
		assertThat(this.engine.snapshot().holds()).isEmpty();
		handle.close();
	}

	@Test
	void countsLossesByReason() {
		this.engine.acquire(LockRequest.of("a").leaseTime(Duration.ofSeconds(1)));
		this.engine.acquire(LockRequest.of("b").leaseTime(Duration.ofSeconds(1)));
		assertThat(this.engine.snapshot().losses()).isEmpty();
		this.time.advance(Duration.ofSeconds(2));
		assertThat(this.engine.snapshot().losses()).containsOnly(Map.entry(Reason.LEASE_EXPIRED, 2L));
	}

	@Test
	void countsLateRenewals() {
		LockHandle handle = this.engine.acquire("k");
		this.time.advance(LEASE.dividedBy(3));
		assertThat(this.engine.snapshot().lateRenewals()).isZero();
		this.backend.breaks(ScriptedBackend.LOST_REQUEST);
		this.time.advance(Duration.ofSeconds(26));
		this.backend.works();
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.engine.snapshot().lateRenewals()).isOne();
		handle.close();
	}

	@Test
	void tellsOfTheStore() {
		assertThat(this.engine.snapshot().notifies()).isTrue();
		this.backend.deaf(true);
		assertThat(this.engine.snapshot().notifies()).isFalse();
		assertThat(engine(this.store, "other").snapshot().store()).containsEntry("type", "memory");
	}

	private EngineSnapshot.Hold hold() {
		assertThat(this.engine.snapshot().holds()).hasSize(1);
		return this.engine.snapshot().holds().get(0);
	}

}
