package io.github.distributedlock.tck;

import io.github.distributedlock.backend.LockBackend.Renewal;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackend.Listening;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.backend.Waiter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The contract of a {@link LockBackend} and of additional features. The inherited tests
 * are about owners and how they pass a key on, these tests about those who wait. A test
 * of a feature that the store does not have is skipped, and the report says so.
 * <p>
 * The test class of a store extends this one and says how a backend is made. One that
 * offers shared or fair locks has another one, which extends {@link SharedContractTests}.
 * Time is real and leases are short; nothing waits for a fixed time and hopes, and what
 * fails while the machine stands still is done again.
 */
public abstract class LockBackendContractTests extends PassingContractTests {

	/**
	 * Returns whether the store can tell that nobody listens for an instance.
	 * @return {@code false} if the store takes each instance for one that listens
	 */
	protected boolean knowsWhoHears() {
		return true;
	}

	// Inspect

	@ContractTest
	void whatIsKnownOfAKeyIsToldAndNotChanged(String store) {
		LockBackend backend = open(store);
		String key = key();
		assertTrue(backend.inspect(key).isFree(), "free");
		listen(backend, "b");
		Claim holder = held(backend, key, "a");
		Claim waiting = claim(key, "b");
		backend.acquireOrRegister(waiting);
		for (int asked = 1; asked <= 2; asked++) {
			LockStatus status = backend.inspect(key);
			isTheOnlyOne(holder.owner(), LockStatus.State.HELD, status);
			isBetween(LONG.dividedBy(2), status.holders().get(0).remaining(), LONG.plusMillis(1));
			assertEquals(List.of(waiting.waiter().describe()), status.waiters());
		}
		backend.release(key, holder.owner());
		LockStatus reserved = backend.inspect(key);
		if (!reserved.isFree()) { // The reservation may have run out.
			isTheOnlyOne("b", LockStatus.State.RESERVED, reserved);
		}
		assertTrue(backend.acquireOrRegister(waiting).acquired(), "reserved, and not taken by the question");
		backend.leaveToExpire(key, waiting.owner(), LONG);
		isTheOnlyOne(waiting.owner(), LockStatus.State.EXPIRING, backend.inspect(key));
	}

	private static void isTheOnlyOne(String owner, LockStatus.State state, LockStatus status) {
		assertEquals(1, status.holders().size(), () -> "holders: " + status);
		LockStatus.Holder only = status.holders().get(0);
		assertEquals(new LockStatus.Holder(owner, state, LockMode.EXCLUSIVE, only.remaining()), only);
	}

	// Acquire or register

	@ContractTest
	void aFreeKeyIsAcquiredInsteadOfWaitedFor(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear a = listen(backend, "a");
		Claim claim = claim(key, "a");
		assertEquals(AcquireResult.ACQUIRED, backend.acquireOrRegister(claim));
		assertFalse(backend.acquire(claim(key, "b")).acquired());
		backend.release(key, claim.owner());
		assertTrue(backend.acquire(claim(key, "b")).acquired(), "free, since nobody registered");
		a.assertHeard(List.of());
	}

	@ContractTest
	void whoHasRegisteredHears(String store) {
		LockBackend backend = open(store, LockFeature.NOTIFICATIONS);
		String key = key();
		Listening listening = backend.listen("b", new Ear());
		held(backend, key, "a");
		backend.acquireOrRegister(claim(key, "b"));
		assertTrue(listening.hears(), "hears");
	}

	@ContractTest
	void whoRegistersIsToldTheHolder(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim holder = held(backend, key, "a");
		AcquireResult attempt = backend.acquireOrRegister(claim(key, "b"));
		assertFalse(attempt.acquired());
		tells(Holder.owner(holder.owner()), attempt);
	}

	@ContractTest
	void whoRegistersIsToldHowManyComeFirstOrNothing(String store) {
		LockBackend backend = open(store);
		String key = key();
		held(backend, key, "a");
		for (int i = 0; i < 3; i++) {
			Integer ahead = backend.acquireOrRegister(claim(key, "b" + i)).ahead();
			assertTrue(ahead == null || ahead == i, "ahead: " + ahead);
		}
	}

	@ContractTest
	void whoRegistersIsToldForHowLongTheKeyIsHeld(String store) {
		LockBackend backend = open(store);
		String key = key();
		held(backend, key, "a");
		AcquireResult attempt = backend.acquireOrRegister(claim(key, "b"));
		isBetween(LONG.dividedBy(2), attempt.remaining(), LONG.plusMillis(1));
	}

	private static void isBetween(Duration least, Duration left, Duration most) {
		assertTrue(left.compareTo(least) >= 0 && left.compareTo(most) <= 0, () -> "left: " + left);
	}

	@ContractTest
	void aKeyIsFreeWhenTheTimeIsOverThatWasTold(String store) throws Exception {
		LockBackend backend = open(store);
		String key = key();
		backend.acquire(claim(key, "a", SHORT));
		Claim waiting = claim(key, "b");
		AcquireResult attempt = backend.acquireOrRegister(waiting);
		if (!attempt.acquired()) {
			TimeUnit.NANOSECONDS.sleep(attempt.remaining().toNanos());
			attempt = backend.acquireOrRegister(waiting);
		}
		assertTrue(attempt.acquired(), "acquired by the question at the end of the lease");
	}

	@ContractTest
	void whoRegistersIsToldForHowLongAKeyIsLeftToExpire(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim holder = held(backend, key, "a");
		Duration rest = LONG.multipliedBy(2);
		assertTrue(backend.leaveToExpire(key, holder.owner(), rest));
		AcquireResult attempt = backend.acquireOrRegister(claim(key, "b"));
		isBetween(LONG, attempt.remaining(), rest.plusMillis(1));
	}

	@ContractTest
	void busyByTheOwnTokenIsAnAcquisitionWithAFullLease(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim claim = claim(key, "a", RENEWABLE);
		backend.acquire(claim);
		Claim again = Claim.of(key, claim.owner(), "a", LONG);
		assertTrue(backend.acquireOrRegister(again).acquired(), "acquired what is its own");
		staysOwned(backend, claim);
		assertTrue(backend.release(key, claim.owner()));
	}

	@ContractTest
	void acquiringEndsTheRegistration(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		backend.acquire(claim(key, "a", SHORT));
		Claim waiting = claim(key, "b");
		// The second attempt acquires because the lease ran out, and not because of a
		// wake-up.
		eventually(() -> backend.acquireOrRegister(waiting).acquired());
		backend.release(key, waiting.owner());
		assertTrue(backend.acquire(claim(key, "c")).acquired(), "free, as nobody waits any more");
		b.assertHeard(List.of(), "wake-ups of who does not wait");
	}

	@ContractTest
	void aFencedClaimThatIsBusyDoesNotWait(String store) {
		LockBackend backend = open(store, LockFeature.FENCING);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		assertFalse(backend.acquire(claim(key, "b").fenced(true)).acquired());
		backend.release(key, holder.owner());
		assertTrue(backend.acquire(claim(key, "c")).acquired(), "free, since nobody registered");
		b.assertHeard(List.of());
	}

	// Release and notification

	@ContractTest
	void onlyTheOwnerReleases(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		backend.acquireOrRegister(claim(key, "b"));
		assertFalse(backend.release(key, claim(key, "a").owner()), "owned");
		assertFalse(backend.acquire(claim(key, "c")).acquired(), "free by a stranger's release");
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(holder))));
		b.assertHeard(List.of());
	}

	@ContractTest
	void theWaiterIsWokenAndTheKeyIsReservedForIt(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		backend.acquireOrRegister(claim(key, "b"));
		assertTrue(backend.release(key, holder.owner()));
		AcquireResult barging = backend.acquireOrRegister(claim(key, "a"));
		AcquireResult woken = backend.acquireOrRegister(claim(key, "b"));
		assertFalse(barging.acquired(), "who released takes it again before who waits");
		tells(Holder.reservation("b"), barging);
		assertTrue(woken.acquired(), "who was woken gets what is reserved for it");
		b.awaitWake(key);
		b.assertHeard(List.of(key));
	}

	@ContractTest
	void aReservationRunsOut(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		backend.acquireOrRegister(claim(key, "b"));
		backend.release(key, holder.owner());
		b.awaitWake(key);
		eventually("the end of the reservation, which is not that of the lease",
				() -> backend.acquire(claim(key, "c")).acquired());
	}

	@ContractTest
	void exactlyOneIsWokenInTheOrderOfRegistration(String store) {
		LockBackend backend = open(store, LockFeature.NOTIFICATIONS);
		String key = key();
		List<String> instances = List.of("c", "a", "b");
		List<Ear> ears = instances.stream().map((instance) -> listen(backend, instance)).toList();
		Claim holder = held(backend, key, "z");
		instances.forEach((instance) -> backend.acquireOrRegister(claim(key, instance)));
		backend.acquireOrRegister(claim(key, "c"));
		for (int i = 0; i < ears.size(); i++) {
			backend.release(key, holder.owner());
			ears.get(i).awaitWake(key);
			assertEquals(i + 1, ears.stream().mapToInt((ear) -> ear.heard().size()).sum(), "woken so far");
			holder = claim(key, instances.get(i));
			acquired(backend, holder);
		}
	}

	@ContractTest
	void whoCannotHearIsSkipped(String store) {
		assumeTrue(knowsWhoHears(), "Skipped: the store takes everybody for listening");
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		IntStream.range(0, 50).forEach((i) -> backend.acquireOrRegister(claim(key, "dead-" + i)));
		backend.acquireOrRegister(claim(key, "b"));
		backend.release(key, holder.owner());
		b.awaitWake(key);
		acquired(backend, claim(key, "b"));
	}

	@ContractTest
	void withNobodyWhoCanHearTheKeyIsFree(String store) {
		assumeTrue(knowsWhoHears(), "Skipped: the store takes everybody for listening");
		LockBackend backend = open(store);
		String key = key();
		Claim holder = held(backend, key, "a");
		backend.acquireOrRegister(claim(key, "dead"));
		backend.release(key, holder.owner());
		assertTrue(backend.acquire(claim(key, "c")).acquired(), "free");
	}

	@ContractTest
	void whoStoppedListeningIsSkipped(String store) {
		LockBackend backend = open(store, LockFeature.NOTIFICATIONS);
		String key = key();
		Ear gone = new Ear();
		Listening listening = backend.listen("gone", gone);
		Claim holder = held(backend, key, "a");
		backend.acquireOrRegister(claim(key, "gone"));
		listening.close();
		// The store may learn of the end a moment later.
		eventually(() -> {
			backend.release(key, holder.owner());
			return backend.acquire(Claim.of(key, holder.owner(), "a", LONG)).acquired();
		});
		assertTrue(gone.heard().size() < 2, "notified once at most");
	}

	@ContractTest
	void aReleaseThatFindsTheKeyGoneWakes(String store) {
		LockBackend backend = open(store, LockFeature.NOTIFICATIONS);
		Ear b = listen(backend, "b");
		// Again where the machine is so slow that the store takes the waiter for dead.
		eventually(() -> {
			String key = key();
			Claim holder = held(backend, key, "a");
			backend.acquireOrRegister(claim(key, "b"));
			backend.leaveToExpire(key, holder.owner(), Duration.ofMillis(1));
			long silent = System.nanoTime() + Duration.ofMillis(500).toNanos();
			while (!b.heard().contains(key) && System.nanoTime() - silent < 0) {
				assertFalse(backend.release(key, holder.owner()), "owned");
			}
			if (!b.heard().contains(key)) {
				return false;
			}
			acquired(backend, claim(key, "b"));
			return true;
		});
	}

	@ContractTest
	void aWakeUpCarriesTheUsersKey(String store) {
		LockBackend backend = open(store);
		Ear b = listen(backend, "b");
		for (String key : List.of(key() + "}{%", "{" + key() + "}:x", key() + " \u00e9\ud83d\ude00")) {
			Claim holder = held(backend, key, "a");
			backend.acquireOrRegister(claim(key, "b"));
			backend.release(key, holder.owner());
			b.awaitWake(key);
		}
	}

	// Withdraw

	@ContractTest
	void whoWithdrewIsNotWoken(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		Ear c = listen(backend, "c");
		Claim holder = held(backend, key, "a");
		backend.acquireOrRegister(claim(key, "b"));
		backend.acquireOrRegister(claim(key, "c"));
		backend.withdraw(key, Waiter.exclusive("b"), Set.of());
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(holder))), "still owned");
		backend.release(key, holder.owner());
		c.awaitWake(key);
		b.assertHeard(List.of());
	}

	@ContractTest
	void whoWithdrawsPassesItsWakeUpOn(String store) {
		LockBackend backend = open(store);
		String key = key();
		listen(backend, "b");
		Ear c = listen(backend, "c");
		Claim holder = held(backend, key, "a");
		backend.acquireOrRegister(claim(key, "b"));
		backend.acquireOrRegister(claim(key, "c"));
		backend.release(key, holder.owner());
		backend.withdraw(key, Waiter.exclusive("b"), Set.of());
		AcquireResult barging = backend.acquire(claim(key, "a"));
		assertFalse(barging.acquired(), "free though the next one waits");
		c.awaitWake(key);
		acquired(backend, claim(key, "c"));
	}

	@ContractTest
	void theLastWhoWithdrawsLeavesTheKeyFree(String store) {
		LockBackend backend = open(store);
		String key = key();
		listen(backend, "b");
		Claim holder = held(backend, key, "a");
		backend.acquireOrRegister(claim(key, "b"));
		backend.release(key, holder.owner());
		assertFalse(backend.acquire(claim(key, "c")).acquired(), "free before");
		backend.withdraw(key, Waiter.exclusive("b"), Set.of());
		assertTrue(backend.acquire(claim(key, "c")).acquired(), "free after");
	}

	@ContractTest
	void aWithdrawalLeavesTheReservationOfAnotherAlone(String store) {
		LockBackend backend = open(store);
		String key = key();
		listen(backend, "b");
		Ear c = listen(backend, "c");
		Claim holder = held(backend, key, "a");
		backend.acquireOrRegister(claim(key, "b"));
		backend.acquireOrRegister(claim(key, "c"));
		backend.release(key, holder.owner());
		backend.withdraw(key, Waiter.exclusive("c"), Set.of());
		assertTrue(backend.acquireOrRegister(claim(key, "b")).acquired(), "still reserved for b");
		c.assertHeard(List.of());
	}

	@ContractTest
	void aWithdrawalFromAFreeKeyWakesTheNext(String store) {
		LockBackend backend = open(store, LockFeature.NOTIFICATIONS);
		String key = key();
		Ear c = listen(backend, "c");
		Claim holder = held(backend, key, "a");
		backend.acquireOrRegister(claim(key, "b"));
		backend.acquireOrRegister(claim(key, "c"));
		backend.leaveToExpire(key, holder.owner(), Duration.ofMillis(1));
		eventually(() -> {
			backend.withdraw(key, Waiter.exclusive("b"), Set.of());
			return c.heard().contains(key);
		});
		acquired(backend, claim(key, "c"));
	}

	// Several keys

	@ContractTest
	void severalKeysAreReleasedEachByItsOwnerAlone(String store) {
		LockBackend backend = open(store);
		List<String> keys = keysOfOneNode();
		Claim mine = held(backend, keys.get(0), "a");
		Claim others = held(backend, keys.get(1), "b");
		assertEquals(List.of(true, false), backend.releaseAll(keys, mine.owner()));
		assertTrue(backend.acquire(claim(keys.get(0), "c")).acquired(), "free");
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(others))));
	}

	static List<String> keysOfOneNode() {
		String tag = "{" + key() + "}";
		return List.of(tag + "a", tag + "b");
	}

}
