package io.github.distributedlock.tck;

import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackend.Renewal;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.backend.ReleaseNotification;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * The contract of a store that grants released keys.
 */
abstract class GrantContractTests extends OwnershipContractTests {

	@ContractTest
	void aReleasedKeyIsGrantedWithAFullLease(String store) {
		LockBackend backend = granting(store);
		String key = key() + " with spaces";
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		Claim next = busy(backend, claim(key, "b").number(3));
		assertTrue(backend.release(key, holder.owner()), "released");
		assertGranted(next, b);
		AcquireResult other = backend.acquireOrRegister(claim(key, "c"));
		assertEquals(Holder.owner(next.owner()), holderOf(other), "the holder");
		assertTrue(other.remaining() == null || other.remaining().compareTo(LONG.dividedBy(2)) > 0, "a full lease");
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(next))), "owned");
		assertTrue(backend.release(key, next.owner()), "released by its owner");
	}

	@ContractTest
	void aGrantLastsAsLongAsItsClaimSaysAndWhatIsTakenForTheFullLease(String store) {
		LockBackend backend = granting(store);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		Claim next = busy(backend, claim(key, "b").number(1).grantLease(RENEWABLE));
		assertTrue(backend.release(key, holder.owner()), "released");
		assertGranted(next, b);
		assertLasts(backend, key, false);
		assertTrue(backend.acquireOrRegister(next.number(2)).acquired(), "its own");
		assertLasts(backend, key, true);
	}

	@ContractTest
	void whatIsPassedOnLastsForTheFullLeaseUnlessItIsGranted(String store) {
		LockBackend backend = granting(store);
		assumeTrue(backend.features().contains(LockFeature.HAND_OVER), "Skipped: the store does not pass keys on");
		String key = key();
		Ear a = listen(backend, "a");
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		Claim own = claim(key, "a").number(1).grantLease(RENEWABLE);
		assertTrue(backend.pass(holder.owner(), own, false).next().acquired(), "passed to its own");
		assertLasts(backend, key, true);
		Claim next = busy(backend, claim(key, "b").number(1));
		Claim last = claim(key, "a").number(1).grantLease(RENEWABLE);
		assertFalse(backend.pass(own.owner(), last, true).next().acquired(), "yields");
		assertGranted(next, b);
		backend.release(key, next.owner());
		assertGranted(last, a);
		assertLasts(backend, key, false);
	}

	private void assertLasts(LockBackend backend, String key, boolean full) {
		Duration left = backend.acquire(claim(key, "probe")).remaining();
		assertTrue(left == null || (left.compareTo(RENEWABLE) > 0) == full,
				(full ? "a full lease: " : "short: ") + left);
	}

	@ContractTest
	void theLastClaimOfAWaiterIsGranted(String store) {
		LockBackend backend = granting(store);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		Claim next = claim(key, "b");
		busy(backend, claim(key, "b").number(1));
		busy(backend, next.number(1));
		busy(backend, next.number(2));
		backend.release(key, holder.owner());
		assertGranted(next.number(2), b);
	}

	@ContractTest
	void whatHasNoNumberIsNotGranted(String store) {
		LockBackend backend = granting(store);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		Claim next = claim(key, "b");
		busy(backend, next.number(1));
		busy(backend, next);
		backend.release(key, holder.owner());
		b.awaitWake(key);
		assertNull(b.last().owner(), "granted to");
		assertEquals(List.of(false), backend.renew(List.of(Renewal.of(next))), "owned");
		assertTrue(askAgain(backend, next).acquired(), "reserved");
	}

	@ContractTest
	void aTicketIsGrantedAndItsPlaceGoes(String store) {
		LockBackend backend = granting(store);
		assumeTrue(backend.features().contains(LockFeature.FAIR), "Skipped: the store does not offer fair locks");
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		List<Claim> tickets = Stream.of(1, 2).map((number) -> busy(backend, fair(key, "b").number(number))).toList();
		String owner = holder.owner();
		for (Claim ticket : tickets) {
			backend.release(key, owner);
			assertGranted(ticket, b);
			owner = ticket.owner();
		}
		backend.release(key, owner);
		assertTrue(backend.acquire(claim(key, "c")).acquired(), "free");
	}

	@ContractTest
	void aReleaseThatIsRepeatedLeavesTheNextOneAlone(String store) {
		LockBackend backend = granting(store);
		String key = key();
		listen(backend, "b");
		listen(backend, "c");
		Claim holder = held(backend, key, "a");
		Claim next = busy(backend, claim(key, "b").number(1));
		busy(backend, claim(key, "c").number(1));
		assertTrue(backend.release(key, holder.owner()), "released");
		assertFalse(backend.release(key, holder.owner()), "released again");
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(next))), "owned by the next");
	}

	@ContractTest
	void aGrantThatWasNotHeardIsAnAcquisitionWithAFullLease(String store) {
		LockBackend backend = granting(store);
		String key = key();
		listen(backend, "b");
		Claim holder = held(backend, key, "a");
		Claim next = claim(key, "b", RENEWABLE);
		busy(backend, next.number(1));
		backend.release(key, holder.owner());
		assertTrue(backend.acquireOrRegister(next.lease(LONG).number(2)).acquired(), "acquired");
		AcquireResult other = backend.acquireOrRegister(claim(key, "c"));
		assertTrue(other.remaining() == null || other.remaining().compareTo(LONG.dividedBy(2)) > 0, "a full lease");
	}

	@ContractTest
	void onlyWhoNamesAnotherOwnerTakesItsPlace(String store) {
		LockBackend backend = granting(store);
		String key = key();
		listen(backend, "b");
		Claim holder = held(backend, key, "a");
		Claim before = busy(backend, claim(key, "b").number(1));
		backend.release(key, holder.owner());
		Claim next = claim(key, "b").number(1);
		busy(backend, next);
		busy(backend, next.number(2).replacing(Set.of("b:unknown")));
		assertTrue(backend.acquireOrRegister(next.number(3).replacing(Set.of("b:unknown", before.owner()))).acquired(),
				"acquired");
		assertEquals(List.of(false, true), backend.renew(List.of(Renewal.of(before), Renewal.of(next))), "owned");
		backend.release(key, next.owner());
		assertTrue(backend.acquire(claim(key, "c")).acquired(), "free, as nobody is registered any more");
	}

	@ContractTest
	void aWithdrawalPassesOnWhatWasGranted(String store) {
		LockBackend backend = granting(store);
		String key = key();
		listen(backend, "b");
		Ear c = listen(backend, "c");
		Claim holder = held(backend, key, "a");
		Claim unwanted = busy(backend, claim(key, "b").number(1));
		Claim next = busy(backend, claim(key, "c").number(5));
		backend.release(key, holder.owner());
		backend.withdraw(key, unwanted.waiter(), Set.of("b:unknown"));
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(unwanted))), "still owned");
		backend.withdraw(key, unwanted.waiter(), Set.of("b:unknown", unwanted.owner()));
		assertGranted(next, c);
	}

	@ContractTest
	void whatIsForgottenIsNeitherOwnedNorWaitsAnyMore(String store) {
		LockBackend backend = granting(store);
		String key = key();
		listen(backend, "b");
		Ear c = listen(backend, "c");
		Claim holder = held(backend, key, "a");
		Claim late = busy(backend, claim(key, "b").number(1));
		Claim next = busy(backend, claim(key, "c").number(1));
		backend.forget(late);
		backend.release(key, holder.owner());
		assertGranted(next, c);
		backend.forget(next);
		assertTrue(backend.acquire(claim(key, "d")).acquired(), "free");
	}

	@ContractTest
	void whoHasRegisteredSinceIsNotForgotten(String store) {
		LockBackend backend = granting(store);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		Claim late = busy(backend, claim(key, "b").number(1));
		Claim next = busy(backend, claim(key, "b").number(1));
		backend.forget(late);
		backend.release(key, holder.owner());
		assertGranted(next, b);
	}

	@ContractTest
	void whoYieldsGrantsToTheOldest(String store) {
		LockBackend backend = granting(store);
		assumeTrue(backend.features().contains(LockFeature.HAND_OVER), "Skipped: the store does not pass keys on");
		String key = key();
		Ear a = listen(backend, "a");
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		Claim next = busy(backend, claim(key, "b").number(1));
		Claim own = claim(key, "a").number(1);
		assertFalse(backend.pass(holder.owner(), own, true).next().acquired(), "passed to its own");
		assertGranted(next, b);
		backend.release(key, next.owner());
		assertGranted(own, a);
	}

	@ContractTest
	void whoAsksHasTheKeyRecalledFromAnotherInstanceEachTime(String store) {
		LockBackend backend = granting(store);
		String key = key() + " with spaces";
		Ear a = listen(backend, "a");
		listen(backend, "b");
		Claim owner = recallable(backend, key, "a");
		assertFalse(backend.acquireOrRegister(claim(key, "a")).acquired(), "busy for its own instance");
		busy(backend, claim(key, "b"));
		a.awaitRecalls(owner);
		busy(backend, claim(key, "b").number(1));
		if (backend.features().contains(LockFeature.SHARED)) {
			busy(backend, reader(key, "b"));
			a.awaitRecalls(owner, owner, owner);
		}
		else {
			a.awaitRecalls(owner, owner);
		}
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(owner))), "still owned");
	}

	@ContractTest
	void whoHasNeverWaitedHearsRecallsToo(String store) {
		LockBackend backend = granting(store);
		String key = key();
		Ear a = listen(backend, "a");
		assertTrue(backend.acquire(recallable(key, "a")).acquired(), "acquired");
		// The store may begin to listen a moment later.
		eventually("a recall", () -> {
			busy(backend, claim(key, "b"));
			return !a.recalls().isEmpty();
		});
	}

	@ContractTest
	void whoWouldPassAKeyOnHasItRecalled(String store) {
		LockBackend backend = granting(store);
		assumeTrue(backend.features().contains(LockFeature.HAND_OVER), "Skipped: the store does not pass keys on");
		String key = key();
		Ear a = listen(backend, "a");
		listen(backend, "b");
		Claim owner = recallable(backend, key, "a");
		assertFalse(backend.pass("b:lost", claim(key, "b"), false).next().acquired(), "busy");
		a.awaitRecalls(owner);
	}

	@ContractTest
	void aKeyThatWasGrantedIsRecalledFromItsNewOwner(String store) {
		LockBackend backend = granting(store);
		String key = key();
		Ear a = listen(backend, "a");
		Ear b = listen(backend, "b");
		listen(backend, "c");
		Claim owner = recallable(backend, key, "a");
		Claim next = busy(backend, recallable(key, "b").number(1));
		a.awaitRecalls(owner);
		backend.release(key, owner.owner());
		assertGranted(next, b);
		busy(backend, claim(key, "c"));
		b.awaitRecalls(next);
		a.awaitRecalls(owner);
	}

	@ContractTest
	void nothingElseIsRecalled(String store) {
		LockBackend backend = granting(store);
		Ear a = listen(backend, "a");
		listen(backend, "b");
		String plain = key();
		held(backend, plain, "a");
		busy(backend, claim(plain, "b"));
		String parked = key();
		backend.leaveToExpire(parked, recallable(backend, parked, "a").owner(), LONG);
		busy(backend, claim(parked, "b"));
		String reserved = key();
		Claim holder = held(backend, reserved, "b");
		busy(backend, recallable(reserved, "a"));
		backend.release(reserved, holder.owner());
		a.awaitWake(reserved);
		busy(backend, claim(reserved, "b"));
		// The last notification is heard last.
		String kept = key();
		Claim owner = recallable(backend, kept, "a");
		busy(backend, claim(kept, "b"));
		a.awaitRecalls(owner);
	}

	private Claim recallable(LockBackend backend, String key, String instance) {
		Claim claim = recallable(key, instance);
		// Registers, so that the instance hears.
		assertTrue(backend.acquireOrRegister(claim).acquired(), "acquired");
		return claim;
	}

	private Claim recallable(String key, String instance) {
		return Claim.of(key, claim(key, instance).owner() + Claim.RECALLABLE, instance, LONG);
	}

	private LockBackend granting(String store) {
		LockBackend backend = open(store);
		assumeTrue(backend.features().contains(LockFeature.GRANTS), "Skipped: the store does not grant");
		assumeTrue(backend.grantsTo("a"), "Skipped: the store does not grant");
		return backend;
	}

	private static Claim busy(LockBackend backend, Claim claim) {
		assertFalse(backend.acquireOrRegister(claim).acquired(), "busy");
		return claim;
	}

	private static Holder holderOf(AcquireResult result) {
		Holder holder = result.holder();
		return (holder != null) ? holder.in(null) : null;
	}

	private static void assertGranted(Claim claim, Ear ear) {
		ear.awaitGrant(claim);
		ReleaseNotification last = ear.last();
		assertEquals(List.of(claim.key(), claim.waiter(), claim.owner(), claim.number()),
				List.of(last.key(), last.waiter(), String.valueOf(last.owner()), last.number()), "granted");
	}

}
