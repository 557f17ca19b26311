package io.github.distributedlock.tck;

import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackend.Renewal;
import java.util.List;

import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.LockBackend.HandOverResult;
import io.github.distributedlock.backend.LockFeature;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The contract on passing a key on inside an instance.
 */
abstract class PassingContractTests extends GrantContractTests {

	@ContractTest
	void anOwnerPassesItsKeyOnPastThoseWhoWait(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		Claim first = held(backend, key, "a");
		Claim next = claim(key, "a");
		backend.acquireOrRegister(claim(key, "b"));
		assertEquals(HandOverResult.of(true, AcquireResult.ACQUIRED), backend.pass(first.owner(), next, false));
		assertEquals(List.of(false, true), backend.renew(List.of(Renewal.of(first), Renewal.of(next))),
				"owner before, owner now");
		assertFalse(backend.release(key, first.owner()), "released by the owner before");
		b.assertHeard(List.of());
		assertTrue(backend.release(key, next.owner()));
		b.awaitWake(key);
	}

	@ContractTest
	void theNextOneHasItsOwnLease(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim first = claim(key, "a", RENEWABLE);
		backend.acquire(first);
		Claim next = claim(key, "a");
		assertTrue(backend.pass(first.owner(), next, false).next().acquired());
		staysOwned(backend, next);
		Claim shortest = claim(key, "a", SHORT);
		assertTrue(backend.pass(next.owner(), shortest, false).next().acquired());
		eventually(() -> backend.acquire(claim(key, "b")).acquired());
	}

	@ContractTest
	void whoYieldsLeavesTheKeyToTheOldestWaiterAndWaitsBehindAll(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear a = listen(backend, "a");
		Ear b = listen(backend, "b");
		Ear c = listen(backend, "c");
		Claim first = held(backend, key, "a");
		Claim next = claim(key, "a");
		backend.acquireOrRegister(claim(key, "b"));
		backend.acquireOrRegister(claim(key, "c"));
		HandOverResult passing = backend.pass(first.owner(), next, true);
		assertTrue(passing.owned(), "owned");
		assertFalse(passing.next().acquired(), "before those who wait");
		tells(Holder.reservation("b"), passing.next());
		b.awaitWake(key);
		Claim holder = claim(key, "b");
		acquired(backend, holder);
		backend.release(key, holder.owner());
		c.awaitWake(key);
		a.assertHeard(List.of());
		holder = claim(key, "c");
		acquired(backend, holder);
		backend.release(key, holder.owner());
		a.awaitWake(key);
		acquired(backend, next);
	}

	@ContractTest
	void whoYieldsToNobodyPassesItsKeyOn(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim first = held(backend, key, "a");
		Claim next = claim(key, "a");
		assertEquals(HandOverResult.of(true, AcquireResult.ACQUIRED), backend.pass(first.owner(), next, true));
		assertEquals(List.of(false, true), backend.renew(List.of(Renewal.of(first), Renewal.of(next))));
	}

	@ContractTest
	void whoPassesOnWhatIsAnothersWaitsForIt(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear a = listen(backend, "a");
		Claim holder = held(backend, key, "b");
		Claim next = claim(key, "a");
		for (boolean yields : List.of(false, true)) {
			HandOverResult passing = backend.pass(claim(key, "a").owner(), next, yields);
			assertFalse(passing.owned(), "owned");
			assertFalse(passing.next().acquired(), "acquired");
			tells(Holder.owner(holder.owner()), passing.next());
		}
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(holder))));
		backend.release(key, holder.owner());
		a.awaitWake(key);
		acquired(backend, next);
	}

	@ContractTest
	void aKeyThatIsGoneGoesToTheNextOne(String store) {
		LockBackend backend = open(store);
		String key = key();
		for (boolean yields : List.of(false, true)) {
			Claim next = claim(key, "a");
			assertEquals(HandOverResult.of(false, AcquireResult.ACQUIRED),
					backend.pass(claim(key, "a").owner(), next, yields));
			assertTrue(backend.release(key, next.owner()), "owned");
		}
	}

	@ContractTest
	void whoTakesOverAgainFindsItsOwn(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim first = held(backend, key, "a");
		Claim next = claim(key, "a");
		backend.pass(first.owner(), next, false);
		// Asks again, as after an answer that got lost.
		assertEquals(HandOverResult.of(false, AcquireResult.ACQUIRED), backend.pass(first.owner(), next, true));
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(next))));
	}

	@ContractTest
	void whoTakesOverGetsAFencingToken(String store) {
		LockBackend backend = open(store, LockFeature.FENCING);
		String key = key();
		Claim first = claim(key, "a").fenced(true);
		long token = backend.acquire(first).fencingToken();
		Claim next = claim(key, "a").fenced(true);
		AcquireResult attempt = backend.pass(first.owner(), next, false).next();
		assertTrue(attempt.fencingToken() > token);
	}

}
