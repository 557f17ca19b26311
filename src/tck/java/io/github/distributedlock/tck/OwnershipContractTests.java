package io.github.distributedlock.tck;

import io.github.distributedlock.backend.LockBackend.Renewal;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.tck.History.Hold;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The contract of every {@link LockBackend} on owners: the four methods of the least
 * form, and fencing tokens where the store offers them.
 */
public abstract class OwnershipContractTests extends ContractBench {

	// Acquire

	@ContractTest
	void aFreeKeyIsAcquired(String store) {
		LockBackend backend = open(store);
		assertTrue(backend.acquire(claim(key(), "a")).acquired(), "acquired");
	}

	@ContractTest
	void anOwnedKeyIsBusyForOthers(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim holder = held(backend, key, "a");
		AcquireResult attempt = backend.acquire(claim(key, "b"));
		assertFalse(attempt.acquired(), "acquired twice");
		tells(Holder.owner(holder.owner()), attempt);
	}

	@ContractTest
	void busyByTheOwnTokenIsAnAcquisitionWithAFullLease(String store) {
		LockBackend backend = open(store);
		Claim claim = claim(key(), "a", RENEWABLE);
		backend.acquire(claim);
		assertTrue(backend.acquire(claim.lease(LONG)).acquired(), "acquired what is its own");
		staysOwned(backend, claim);
		assertTrue(backend.release(claim.key(), claim.owner()), "owned");
	}

	@ContractTest
	void keysAreIndependent(String store) {
		LockBackend backend = open(store);
		String key = key();
		List<String> keys = List.of(key, "{" + key + "}", key + "}", key + "%7D", "-waiters:" + key, ":" + key,
				// Equal by the collation of some database.
				key.toUpperCase(Locale.ROOT), key + " ", key + "e", key + "\u00e9", key + "e\u0301", key + "E",
				key + "ss", key + "\u00df", key + "\ud83d\ude00", key + "\ud83d\ude01");
		for (String other : keys) {
			assertTrue(backend.acquire(claim(other, "a")).acquired(), () -> "free: " + other);
		}
	}

	@ContractTest
	void aLeaseRunsOut(String store) {
		LockBackend backend = open(store);
		String key = key();
		backend.acquire(claim(key, "a", SHORT));
		assertFalse(backend.acquire(claim(key, "b")).acquired(), "acquired within the lease");
		eventually(() -> backend.acquire(claim(key, "b")).acquired());
	}

	@ContractTest
	void aSecondAttemptOfTheOwnerNeverShortens(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim claim = claim(key, "a", RENEWABLE);
		assertTrue(askAgain(backend, claim).acquired());
		Claim extended = claim.lease(LONG);
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(extended))));
		assertTrue(askAgain(backend, claim).acquired(), "its own");
		staysOwned(backend, extended);
	}

	// Renew

	@ContractTest
	void aRenewedLeaseLasts(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim claim = claim(key, "a", RENEWABLE);
		backend.acquire(claim);
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(claim.lease(LONG)))));
		staysOwned(backend, claim);
	}

	@ContractTest
	void aRenewalNeverShortens(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim claim = held(backend, key, "a");
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(claim.lease(RENEWABLE)))));
		staysOwned(backend, claim);
	}

	@ContractTest
	void renewalsAreAnsweredOneByOneInOrder(String store) {
		LockBackend backend = open(store);
		Claim mine = held(backend, key(), "a");
		Claim gone = claim(key(), "a");
		Claim stranger = claim(held(backend, key(), "b").key(), "a");
		assertEquals(List.of(false, true, false, true),
				backend.renew(List.of(Renewal.of(gone), Renewal.of(mine), Renewal.of(stranger), Renewal.of(mine))));
		assertEquals(List.of(), backend.renew(List.of()));
		assertTrue(backend.acquire(claim(gone.key(), "c")).acquired(), "a renewal makes no key");
	}

	@ContractTest
	void manyAreRenewedAtOnce(String store) {
		LockBackend backend = open(store);
		int most = backend.largestBatch();
		List<Claim> claims = IntStream.range(0, most).mapToObj((i) -> held(backend, key(), "a")).toList();
		Claim lost = claims.get(121);
		backend.release(lost.key(), lost.owner());
		List<Boolean> renewed = backend.renew(claims.stream().map(Renewal::of).toList());
		assertEquals(most, renewed.size());
		assertEquals(List.of(121), IntStream.range(0, most).filter((i) -> !renewed.get(i)).boxed().toList());
	}

	@ContractTest
	void aLeaseThatHasRunOutIsNotRenewed(String store) {
		LockBackend backend = open(store);
		Claim claim = claim(key(), "a", SHORT);
		backend.acquire(claim);
		eventually(() -> !backend.renew(List.of(Renewal.of(claim.lease(Duration.ofMillis(1))))).get(0));
		assertEquals(List.of(false), backend.renew(List.of(Renewal.of(claim))));
		assertFalse(backend.release(claim.key(), claim.owner()), "owned");
		assertTrue(backend.acquire(claim(claim.key(), "b")).acquired(), "free");
	}

	// Release

	@ContractTest
	void aReleasedKeyIsFree(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim holder = held(backend, key, "a");
		assertTrue(backend.release(key, holder.owner()), "owned");
		assertFalse(backend.release(key, holder.owner()), "owned still");
		assertTrue(backend.acquire(claim(key, "b")).acquired(), "free after release");
	}

	@ContractTest
	void onlyTheOwnerReleases(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim holder = held(backend, key, "a");
		assertFalse(backend.release(key, claim(key, "a").owner()), "owned");
		assertFalse(backend.acquire(claim(key, "c")).acquired(), "free by a stranger's release");
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(holder))));
	}

	// Leave to expire

	@ContractTest
	void whatIsLeftToExpireIsBusyForThatTimeAndNobodys(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim claim = held(backend, key, "a");
		assertTrue(backend.leaveToExpire(key, claim.owner(), SHORT), "owned");
		AcquireResult attempt = backend.acquire(claim(key, "b"));
		assertFalse(attempt.acquired(), "acquired meanwhile");
		tells(Holder.expiring(claim.owner()), attempt);
		assertEquals(List.of(false), backend.renew(List.of(Renewal.of(claim))), "revived");
		assertFalse(backend.release(key, claim.owner()), "released");
		eventually(() -> backend.acquire(claim(key, "b")).acquired());
	}

	@ContractTest
	void onlyTheOwnerLeavesToExpire(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim claim = held(backend, key, "a");
		assertFalse(backend.leaveToExpire(key, claim(key, "a").owner(), SHORT), "owned");
		staysOwned(backend, claim);
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(claim))));
	}

	// Features that a store may offer.

	@ContractTest
	void whatIsNotOfferedIsRefused(String store) {
		LockBackend backend = open(store);
		LockRequest plain = LockRequest.of("k");
		backend.checkSupport(plain);
		Map<LockFeature, LockRequest> requests = Map.of(LockFeature.SHARED, plain.mode(LockMode.SHARED),
				LockFeature.PERMITS, plain.permits(2), LockFeature.FAIR, plain.fair(true), LockFeature.FENCING,
				plain.fenced(true));
		requests.forEach((feature, request) -> {
			if (!backend.features().contains(feature)) {
				LockBackendException refusal = assertThrows(LockBackendException.class,
						() -> backend.checkSupport(request), feature::name);
				assertTrue(refusal.isWithoutEffect(), "nothing carried out");
				assertFalse(refusal.isRetryable(), "retryable");
			}
		});
	}

	@ContractTest
	void fencingTokensGrowWithEachAcquisition(String store) {
		LockBackend backend = open(store, LockFeature.FENCING);
		String key = key();
		long last = 0;
		for (int i = 0; i < 6; i++) {
			Claim claim = claim(key, "a").fenced(true);
			AcquireResult attempt = (i % 2 == 0) ? backend.acquire(claim) : askAgain(backend, claim);
			assertTrue(attempt.acquired());
			long token = attempt.fencingToken();
			assertTrue(token > last, "greater than the last");
			last = token;
			backend.release(key, claim.owner());
		}
		assertNull(backend.acquire(claim(key, "a")).fencingToken(), "not asked for");
	}

	@ContractTest
	void aFencedClaimThatFindsItsOwnTokenGetsAnotherNumber(String store) {
		LockBackend backend = open(store, LockFeature.FENCING);
		Claim claim = claim(key(), "a").fenced(true);
		long unheard = backend.acquire(claim).fencingToken();
		assertTrue(askAgain(backend, claim).fencingToken() > unheard);
	}

	@ContractTest
	void aFencedClaimThatIsBusyGetsNoToken(String store) {
		LockBackend backend = open(store, LockFeature.FENCING);
		String key = key();
		held(backend, key, "a");
		AcquireResult attempt = backend.acquire(claim(key, "b").fenced(true));
		assertFalse(attempt.acquired());
		assertNull(attempt.fencingToken());
	}

	// Release by force

	@ContractTest
	void aReleaseByForceTakesTheKeyFromTheNamedOwner(String store) {
		LockBackend backend = open(store, LockFeature.INSPECTION);
		String key = key();
		try (LockEngine holders = engine(backend, "holder"); LockEngine operators = engine(backend, "operator")) {
			LockHandle holder = holders.acquire(LockRequest.of(key).detached(true));
			String shown = operators.inspect(key).holders().get(0).owner();
			assertFalse(operators.forceRelease(key, shown + "0"), "released for another owner");
			assertEquals(shown, operators.inspect(key).holders().get(0).owner());
			assertTrue(operators.forceRelease(key, shown), "released by force");
			assertFalse(operators.forceRelease(key, shown), "released twice");
			acquired(backend, claim(key, "next"));
			eventually("the loss", () -> !holder.isHeld());
			LockLostException lost = assertThrows(LockLostException.class, holder::checkHeld);
			assertEquals(LockEvent.Lost.Reason.FORCED_RELEASE, lost.reason());
		}
	}

	// Everything together

	/**
	 * Each instance leaves the key to the end of a lease twice, as one does that dies.
	 */
	@ContractTest
	void noTwoOwnersAreThereAtTheSameTime(String store) {
		LockBackend backend = open(store);
		String key = key();
		Queue<Hold> holds = new ConcurrentLinkedQueue<>();
		List<String> instances = List.of("a", "b", "c", "d");
		instances.forEach((instance) -> listen(backend, instance));
		inThreads(instances, (instance) -> {
			for (int i = 0; i < 40; i++) {
				boolean dies = i % 20 == 19;
				Claim claim = claim(key, instance, dies ? SHORT : LONG);
				long[] sent = new long[1];
				eventually("the lock", () -> {
					sent[0] = System.nanoTime();
					return askAgain(backend, claim).acquired();
				});
				long from = System.nanoTime();
				long until = dies ? sent[0] + SHORT.toNanos() : System.nanoTime();
				if (until >= from) {
					holds.add(new Hold(key, claim.owner(), from, until, !dies));
				}
				if (!dies) {
					backend.release(key, claim.owner());
				}
			}
		});
		HistoryChecker.assertExclusive(holds);
		assertTrue(holds.size() >= 150, "too slow to tell anything");
	}

}
