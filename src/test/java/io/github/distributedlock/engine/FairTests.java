package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockInterruptedException;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.Waiter;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests that are served in the order of their arrival.
 */
class FairTests extends EngineFixture {

	private static final Duration LONG = Duration.ofSeconds(20);

	private final LockEngine third = engine(this.store, "third");

	private final List<Integer> served = new CopyOnWriteArrayList<>();

	@Test
	void servedInTheOrderOfArrivalAcrossJvmsAndThreads() {
		LockHandle held = this.third.acquire(request("k").fair(true));
		List<CompletableFuture<?>> waiters = new ArrayList<>();
		for (int i = 0; i < 12; i++) {
			// Twice the one, twice the other.
			waiters.add(serving(i, (i % 4 < 2) ? this.engine : this.third));
		}
		held.close();
		assertThat(waiters).allSatisfy((waiter) -> assertThat(waiter).succeedsWithin(PATIENCE));
		assertThat(this.served).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void freeLockTakesOneCommand() {
		this.engine.acquire(waiting("k", LONG).fair(true)).close();
		assertThat(this.backend.steps()).containsExactly("register k", "release k");
	}

	@Test
	void nobodyGetsAheadOfOneWhoWaits() {
		ownedElsewhere("k", LEASE);
		loseWakeUps();
		CompletableFuture<LockHandle> waiter = acquiring(waiting("k", LONG).fair(true));
		releasedElsewhere("k");
		assertThat(this.third.tryAcquire(request("k").fair(true))).as("reserved").isEmpty();
		this.time.pass(Duration.ofMillis(600));
		assertThat(this.third.tryAcquire(request("k").fair(true))).as("no longer reserved").isEmpty();
		CompletableFuture<?> later = serving(1, this.third);
		assertThat(later).isNotDone();
		this.time.advance(Duration.ofMillis(500));
		assertThat(waiter).succeedsWithin(PATIENCE);
		assertThat(later).isNotDone();
		waiter.join().close();
		this.time.advance(Duration.ofMillis(500));
		assertThat(later).succeedsWithin(PATIENCE);
	}

	@Test
	void waiterWhoseTimeIsOverIsSkippedAtOnce() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> first = acquiring(waiting("k", Duration.ofSeconds(1)).fair(true));
		CompletableFuture<?> second = serving(2, this.engine);
		CompletableFuture<?> third = serving(3, this.third);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(first).failsWithin(PATIENCE);
		untilWithdrawn(1);
		releasedElsewhere("k");
		assertThat(second).succeedsWithin(PATIENCE);
		assertThat(third).succeedsWithin(PATIENCE);
		assertThat(this.served).containsExactly(2, 3);
	}

	@Test
	void waiterThatIsInterruptedIsSkippedAtOnce() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<?> first = serving(1, this.engine);
		CompletableFuture<LockHandle> second = acquiring(waiting("k", LONG).fair(true));
		Thread interrupted = lastThread();
		CompletableFuture<?> third = serving(3, this.third);
		interrupted.interrupt();
		assertFails(second, LockInterruptedException.class);
		untilWithdrawn(1);
		releasedElsewhere("k");
		assertThat(first).succeedsWithin(PATIENCE);
		assertThat(third).succeedsWithin(PATIENCE);
	}

	@Test
	void ticketThatNobodyHasIsWithdrawnWhenItIsWoken() {
		ownedElsewhere("k", LEASE);
		leaveTicket();
		CompletableFuture<?> staying = serving(1, this.third);
		releasedElsewhere("k");
		assertThat(this.backend.steps()).containsExactly("withdraw k");
		assertThat(staying).succeedsWithin(PATIENCE);
	}

	@Test
	void pollWithdrawsATicketThatNobodyHas() {
		ownedElsewhere("k", LEASE);
		leaveTicket();
		loseWakeUps();
		CompletableFuture<?> staying = serving(1, this.engine);
		releasedElsewhere("k");
		advanceUntil(Duration.ofMillis(100), staying::isDone);
		assertThat(staying).as("did not wait in vain").succeedsWithin(PATIENCE);
		assertThat(this.backend.steps()).contains("withdraw k");
	}

	@Test
	void lostWakeUpOfAnotherRequestIsFoundByThePollingRequest() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> first = acquiring(waiting("k", Duration.ofSeconds(10)).fair(true));
		CompletableFuture<LockHandle> second = acquiring(waiting("k", LONG).fair(true));
		loseWakeUps();
		// The first one's place is lost, as if the store had been emptied.
		List<LockStatus.Waiter> tickets = this.store.inspect("k").waiters();
		this.store.withdraw("k", Waiter.fair(instance(), tickets.get(0).ticket()), Set.of());
		releasedElsewhere("k");
		assertThat(holderOf("k")).isEqualTo(Holder.reservation(tickets.get(1).ticket()));
		this.time.advance(Duration.ofMillis(500));
		assertThat(second).succeedsWithin(PATIENCE);
		assertThat(first).isNotDone();
	}

	@Test
	void nextOneAsksWhenTheFirstHasGivenUp() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> first = acquiring(waiting("k", Duration.ofSeconds(1)).fair(true));
		CompletableFuture<?> second = serving(2, this.engine);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(first).failsWithin(PATIENCE);
		untilWithdrawn(1);
		untilWaiting(1);
		loseWakeUps();
		releasedElsewhere("k");
		this.time.advance(Duration.ofMillis(500));
		assertThat(second).succeedsWithin(PATIENCE);
	}

	@Test
	void jvmThatDoesNotHearKeepsItsPlaces() {
		ownedElsewhere("k", LEASE);
		this.backend.deaf(true);
		loseWakeUps();
		CompletableFuture<?> first = serving(1, this.engine);
		CompletableFuture<?> second = serving(2, this.engine);
		CompletableFuture<?> third = serving(3, this.third);
		for (int i = 0; i < 8; i++) {
			this.time.advance(Duration.ofMillis(500));
		}
		releasedElsewhere("k");
		advanceUntil(Duration.ofMillis(100), () -> this.served.size() == 3);
		assertThat(this.served).containsExactly(1, 2, 3);
		assertThat(List.of(first, second, third)).allSatisfy((waiter) -> assertThat(waiter).succeedsWithin(PATIENCE));
	}

	@Test
	void requestWhoseRegistrationWasNotAnsweredKeepsItsPlace() {
		ownedElsewhere("k", LEASE);
		this.backend.next("register", ScriptedBackend.LOST_REPLY);
		CompletableFuture<?> first = serving(1, this.engine);
		CompletableFuture<?> second = serving(2, this.third);
		this.time.advance(Duration.ofMillis(25));
		untilWaiting(2);
		releasedElsewhere("k");
		assertThat(first).succeedsWithin(PATIENCE);
		assertThat(second).succeedsWithin(PATIENCE);
		assertThat(this.served).containsExactly(1, 2);
	}

	@Test
	void requestThatMayNotWaitLeavesNoTicket() {
		ownedElsewhere("k", LEASE);
		assertThat(this.engine.tryAcquire(request("k").fair(true))).isEmpty();
		releasedElsewhere("k");
		assertThat(holderOf("k")).isNull();
		assertThat(this.engine.tryAcquire(request("k").fair(true))).isPresent();
	}

	@Test
	void nextOneOfThisJvmKeepsItsPlaceAliveWhileAnotherHoldsTheLock() {
		LockHandle held = this.engine.acquire(request("k").fair(true));
		CompletableFuture<?> ours = serving(1, this.engine);
		CompletableFuture<?> others = serving(2, this.third);
		for (int i = 0; i < 6; i++) {
			this.time.advance(Duration.ofMillis(500));
			untilWaiting(2);
		}
		// The store does not hear from us, as if the lease had run out.
		this.store.leaveToExpire("k", held.owner(), Duration.ofMillis(1));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(ours).succeedsWithin(PATIENCE);
		advanceUntil(Duration.ofMillis(100), others::isDone);
		assertThat(this.served).containsExactly(1, 2);
	}

	@Test
	void grantThatWasNotHeardIsFoundByThePollingRequest() {
		ownedElsewhere("k", LEASE);
		CompletableFuture<LockHandle> first = acquiring(waiting("k", LONG).fair(true));
		CompletableFuture<LockHandle> second = acquiring(waiting("k", LONG).fair(true));
		loseWakeUps();
		List<LockStatus.Waiter> tickets = this.store.inspect("k").waiters();
		this.store.withdraw("k", Waiter.fair(instance(), tickets.get(0).ticket()), Set.of());
		releasedElsewhere("k");
		// An earlier registration of the second one is carried out late.
		String owner = tickets.get(1).ticket();
		this.store.acquireOrRegister(Claim.of("k", owner, instance(), LEASE).fair(true));
		assertThat(holderOf("k")).isEqualTo(Holder.owner(owner));
		this.time.advance(Duration.ofMillis(500));
		assertThat(second).succeedsWithin(PATIENCE);
		assertThat(first).isNotDone();
	}

	@Test
	void fairInsideUnfairAndUnfairInsideFairReenter() {
		for (boolean fair : List.of(true, false)) {
			try (LockHandle outer = this.engine.acquire(request("k").fair(fair));
					LockHandle inner = this.engine.acquire(request("k").fair(!fair))) {
				assertThat(inner.owner()).isEqualTo(outer.owner());
			}
		}
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void severalKeysAreWaitedForInOrderOneAfterTheOther() {
		ownedElsewhere("b", LEASE);
		CompletableFuture<LockHandle> both = acquiring(LockRequest.of("b", "a").waitTime(LONG).fair(true));
		CompletableFuture<LockHandle> single = acquiring(waiting("b", LONG).fair(true));
		assertThat(holderOf("a")).isNotNull();
		releasedElsewhere("b");
		assertThat(both).succeedsWithin(PATIENCE);
		assertThat(single).isNotDone();
		both.join().close();
		assertThat(single).succeedsWithin(PATIENCE);
		assertThat(holderOf("a")).isNull();
	}

	@Test
	void isServedAlthoughOthersOfThisJvmHandTheLockOn() {
		LockHandle held = this.engine.acquire("k");
		CompletableFuture<?> fair = serving(1, this.engine);
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG));
		CompletableFuture<LockHandle> last = acquiring(waiting("k", LONG));
		held.close();
		assertThat(next).succeedsWithin(PATIENCE);
		assertThat(fair).as("within the slice").isNotDone();
		this.time.advance(Duration.ofMillis(20));
		next.join().close();
		assertThat(fair).succeedsWithin(PATIENCE);
		assertThat(last).succeedsWithin(PATIENCE);
	}

	/**
	 * Makes a request that waits, and notes the number when served.
	 */
	private CompletableFuture<?> serving(int number, LockEngine by) {
		int before = this.time.waiting();
		CompletableFuture<?> serving = inThread(() -> {
			by.run(waiting("k", LONG).fair(true), () -> this.served.add(number));
			return true;
		});
		soon(() -> serving.isDone() || this.time.waiting() > before);
		return serving;
	}

	private void untilWithdrawn(int times) {
		Awaitility.await()
			.until(() -> this.backend.steps().stream().filter((step) -> step.equals("withdraw k")).count() == times);
	}

	/**
	 * Leaves a ticket whose request has ended, as if the registration had come late.
	 */
	private void leaveTicket() {
		String us = instance();
		this.store.acquireOrRegister(Claim.of("k", us + ":77", us, LEASE).fair(true));
	}

}
