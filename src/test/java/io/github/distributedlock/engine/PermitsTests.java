package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.LockUpgradeException;
import io.github.distributedlock.ReleaseOn;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Waiter;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for permits: as many holders at a time as there are permits.
 */
class PermitsTests extends EngineFixture {

	private static final Duration LONG = Duration.ofSeconds(20);

	private final LockEngine third = engine(this.store, "third");

	@Test
	void asManyHoldTheLockAsThereArePermits() {
		LockHandle one = this.engine.acquire(detached(3));
		LockHandle two = this.engine.acquire(detached(3));
		LockHandle three = this.third.acquire(detached(3));
		assertThat(List.of(one, two, three)).allMatch(LockHandle::isHeld)
			.extracting(LockHandle::owner)
			.doesNotHaveDuplicates();
		assertThat(this.backend.steps()).containsExactly("acquire k", "acquire k");
		assertThat(this.engine.tryAcquire(detached(3))).isEmpty();
		assertThat(this.third.tryAcquire(detached(3))).isEmpty();
		two.close();
		assertThat(this.third.tryAcquire(detached(3))).isPresent();
	}

	@Test
	void onePermitIsAnExclusiveLock() {
		assertThat(permits(1)).isEqualTo(request("k"));
		assertThat(permits(1).toString()).doesNotContain("permits");
		assertThat(permits(7).toString()).contains("permits=7");
		assertThat(permits(7).permits(1)).isEqualTo(request("k"));
	}

	@Test
	void eachGoesByItsOwnNumber() {
		this.engine.acquire(permits(2));
		inThread(() -> this.engine.acquire(permits(2))).join();
		assertThat(this.third.tryAcquire(permits(2))).isEmpty();
		assertThat(this.third.tryAcquire("k")).isEmpty();
		assertThat(this.third.tryAcquire(request("k").mode(LockMode.SHARED))).isEmpty();
		assertThat(this.third.tryAcquire(permits(3))).isPresent();
	}

	@Test
	void waitersOfOneJvmGetEachPermitThatBecomesFree() {
		List<LockHandle> held = IntStream.range(0, 2).mapToObj((i) -> this.third.acquire(detached(2))).toList();
		List<CompletableFuture<LockHandle>> waiting = IntStream.range(0, 3)
			.mapToObj((i) -> acquiring(permits(2).waitTime(LONG)))
			.toList();
		held.forEach(LockHandle::close);
		assertThat(waiting.subList(0, 2)).allSatisfy((each) -> assertThat(each).succeedsWithin(PATIENCE));
		untilWaiting(1);
		assertThat(waiting.get(2)).isNotDone();
		waiting.get(0).join().close();
		assertThat(waiting.get(2)).succeedsWithin(PATIENCE);
	}

	@Test
	void asyncWaitersGetEachPermitThatBecomesFree() {
		List<LockHandle> held = IntStream.range(0, 2).mapToObj((i) -> this.third.acquire(detached(2))).toList();
		List<CompletableFuture<LockHandle>> waiting = IntStream.range(0, 3)
			.mapToObj((i) -> this.engine.acquireAsync(permits(2).waitTime(LONG)))
			.toList();
		act();
		assertThat(waiting).noneMatch(CompletableFuture::isDone);
		held.forEach(LockHandle::close);
		act();
		assertThat(waiting).extracting(CompletableFuture::isDone).containsExactly(true, true, false);
		waiting.get(0).join().close();
		act();
		assertThat(waiting).allMatch(CompletableFuture::isDone);
	}

	@Test
	void whileOneWaitsInTheStoreTheOthersOfItsJvmDoNotAsk() {
		ownedElsewhere("k", LEASE);
		acquiring(permits(2).waitTime(LONG));
		this.backend.forgetSteps();
		acquiring(permits(2).waitTime(LONG));
		assertThat(this.backend.steps()).isEmpty();
		assertThat(isBusy(this.engine)).isTrue();
		assertThat(this.backend.steps()).as("of one that does not wait").containsExactly("acquire k");
	}

	@Test
	void whatAsksOutOfTurnDoesNotRegister() {
		CompletableFuture<LockHandle> outOfTurn = this.engine.acquireAsync(permits(2).waitTime(LONG));
		LockHandle held = this.third.acquire(request("k").detached(true));
		CompletableFuture<LockHandle> contending = acquiring(waiting("k", LONG));
		held.close();
		assertThat(contending).succeedsWithin(PATIENCE);
		this.backend.forgetSteps();
		act();
		assertThat(outOfTurn).isNotDone();
		assertThat(this.backend.steps()).containsExactly("acquire k", "register k");
	}

	@Test
	void anExclusiveRequestIsNotStarved() {
		LockHandle one = this.engine.acquire(detached(2));
		LockHandle two = this.engine.acquire(detached(2));
		CompletableFuture<LockHandle> alone = inThread(() -> this.third.acquire(waiting("k", LONG)));
		untilWaiting(1);
		one.close();
		assertThat(isBusy(this.engine)).as("past one that waits").isTrue();
		assertThat(alone).isNotDone();
		two.close();
		assertThat(alone).succeedsWithin(PATIENCE);
	}

	@Test
	void reEntryTakesNoSecondPermit() {
		try (LockHandle outer = this.engine.acquire(permits(2)); LockHandle inner = this.engine.acquire(permits(5))) {
			assertThat(inner.owner()).isEqualTo(outer.owner());
			assertThat(isBusy(this.third)).isFalse();
		}
		assertThat(this.backend.steps()).containsExactly("acquire k", "release k");
	}

	@Test
	void exclusiveIsReEnteredWithPermitsAndStaysExclusive() {
		LockHandle outer = this.engine.acquire("k");
		try (LockHandle inner = this.engine.acquire(permits(2))) {
			outer.close();
			assertThat(inner.isHeld()).isTrue();
			assertThat(this.third.tryAcquire(permits(2))).isEmpty();
		}
		assertThat(this.third.tryAcquire("k")).isPresent();
	}

	@Test
	void whatOthersMayHaveTooIsNotReEnteredAsLess() {
		try (LockHandle outer = this.engine.acquire(permits(3))) {
			for (LockRequest less : List.of(request("k"), permits(2), request("k").mode(LockMode.SHARED),
					LockRequest.of("a", "k"))) {
				assertThatExceptionOfType(LockUpgradeException.class).isThrownBy(() -> this.engine.tryAcquire(less))
					.withMessageContainingAll("Lock 'k' was requested", "this thread holds it with permits 3 already");
			}
			assertThat(outer.isHeld()).isTrue();
		}
		try (LockHandle outer = this.engine.acquire(request("k").mode(LockMode.SHARED))) {
			assertThatExceptionOfType(LockUpgradeException.class).isThrownBy(() -> this.engine.acquire(permits(2)))
				.withMessageContainingAll("requested with permits 2", "SHARED already");
			assertThat(outer.isHeld()).isTrue();
		}
	}

	@Test
	void aHolderWhoseJvmDiedTakesAPermitUntilItsLeaseIsOver() {
		this.store.acquire(HoldOptions.of(permits(2), LEASE).claim("k", "dead#1:1", Waiter.exclusive("dead#1")));
		this.engine.acquire(permits(2));
		CompletableFuture<LockHandle> waiting = acquiring(permits(2).waitTime(Duration.ofMinutes(1)));
		this.time.advance(LEASE.minusSeconds(1));
		untilWaiting(1);
		assertThat(waiting).isNotDone();
		this.time.advance(Duration.ofMillis(1500));
		assertThat(waiting).succeedsWithin(PATIENCE);
	}

	@Test
	void minHoldTimeAndExpiryKeepAPermit() {
		for (LockRequest resting : List.of(detached(2).minHoldTime(Duration.ofSeconds(3)),
				detached(2).leaseTime(Duration.ofSeconds(3)).releaseOn(ReleaseOn.EXPIRY))) {
			this.backend.forgetSteps();
			LockHandle other = this.third.acquire(detached(2));
			this.engine.acquire(resting).close();
			assertThat(this.backend.steps()).containsExactly("acquire k", "expire k");
			assertThat(isBusy(this.third)).isTrue();
			this.time.advance(Duration.ofMillis(3100));
			assertThat(isBusy(this.third)).isFalse();
			other.close();
		}
	}

	/** Requests of two JVMs at random, of which each is over at once. */
	@Test
	void noMoreBeginInAnyWindowThanThereArePermits() {
		LockRequest call = detached(10).minHoldTime(Duration.ofSeconds(1));
		Random random = new Random(36);
		List<Long> begun = new ArrayList<>();
		for (int step = 0; step < 2000; step++) {
			LockEngine jvm = random.nextBoolean() ? this.engine : this.third;
			jvm.tryAcquire(call).ifPresent((handle) -> {
				begun.add(this.time.nanoTime());
				handle.close();
			});
			this.time.advance(Duration.ofMillis(random.nextInt(10)));
		}
		assertThat(IntStream.range(10, begun.size()).mapToLong((i) -> begun.get(i) - begun.get(i - 10)))
			.as("between a call and the tenth one after it")
			.hasSizeGreaterThan(50)
			.allMatch((nanos) -> nanos >= TimeUnit.SECONDS.toNanos(1));
	}

	@Test
	void ofADeadJvmAPermitIsKeptForALease() {
		LockRequest call = detached(2).minHoldTime(Duration.ofSeconds(1));
		this.engine.acquire(call).close();
		assertThat(this.store.acquire(Claim.of("k", "other#1:1", "other#1", LEASE).permits(2)).acquired()).isTrue();
		this.time.advance(Duration.ofMillis(1100));
		assertThat(this.third.tryAcquire(call)).as("in place of the one that ended").isPresent();
		assertThat(this.third.tryAcquire(call)).as("in place of the one whose JVM died").isEmpty();
		this.time.advance(LEASE);
		assertThat(this.third.tryAcquire(call)).isPresent();
	}

	@Test
	void whoGivesUpWithdrawsAndLetsThoseBehindIn() {
		LockHandle held = this.third.acquire(permits(2));
		CompletableFuture<LockHandle> alone = acquiring(waiting("k", Duration.ofSeconds(1)));
		CompletableFuture<LockHandle> behind = acquiring(permits(2).waitTime(LONG));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(alone).failsWithin(PATIENCE);
		succeeded(behind).close();
		held.close();
		Awaitility.await().until(() -> !this.engine.hasQueues());
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void severalKeysAllOrNone() {
		LockRequest both = LockRequest.of("a", "k").permits(2).detached(true);
		LockHandle one = this.engine.acquire(both);
		LockHandle other = this.third.acquire(permits(2));
		assertThat(this.engine.tryAcquire(both)).isEmpty();
		assertThat(this.third.tryAcquire(permits("a", 2))).as("given back").isPresent();
		one.close();
		assertThat(this.engine.tryAcquire(both)).isPresent();
		other.close();
	}

	@Test
	void allHoldersAreShown() {
		LockHandle here = this.engine.acquire(permits(2));
		LockHandle there = this.third.acquire(permits(2));
		LockStatus status = this.engine.inspect("k");
		assertThat(status.heldHere()).isTrue();
		assertThat(status.holders()).extracting(LockStatus.Holder::owner)
			.containsExactlyInAnyOrder(here.owner(), there.owner());
		assertThat(this.engine.snapshot().holds()).extracting(EngineSnapshot.Hold::owner).containsExactly(here.owner());
		assertThat(this.engine.snapshot().holds()).extracting(EngineSnapshot.Hold::permits).containsExactly(2);
	}

	/**
	 * Returns whether there is no permit of two, as a request finds that does not wait.
	 */
	private static boolean isBusy(LockEngine engine) {
		return Stream.ofNullable(engine.tryAcquire(detached(2)).orElse(null))
			.peek(LockHandle::close)
			.findAny()
			.isEmpty();
	}

	private static LockRequest detached(int permits) {
		return permits(permits).detached(true);
	}

	private static LockRequest permits(int permits) {
		return permits("k", permits);
	}

	private static LockRequest permits(String key, int permits) {
		return LockRequest.of(key).permits(permits);
	}

}
