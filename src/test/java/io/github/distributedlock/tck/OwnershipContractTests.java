package io.github.distributedlock.tck;

import java.util.List;
import java.util.stream.IntStream;

import io.github.distributedlock.backend.Attempt;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The contract as far as owners are concerned.
 */
abstract class OwnershipContractTests extends ContractBench {

	// Acquire

	@ContractTest
	void aFreeKeyIsAcquired(String store) {
		LockBackend backend = open(store);
		assertThat(backend.acquire(claim(key(), "a")).acquired()).as("acquired").isTrue();
	}

	@ContractTest
	void anOwnedKeyIsBusyForOthers(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim holder = held(backend, key, "a");
		Attempt attempt = backend.acquire(claim(key, "b"));
		assertThat(attempt.acquired()).as("acquired twice").isFalse();
		assertThat(attempt.holder()).as("holder, where the store says so").isIn(null, holder.owner());
	}

	@ContractTest
	void fencingTokensGrowWithEachAcquisition(String store) {
		LockBackend backend = open(store);
		String key = key();
		long last = 0;
		for (int i = 0; i < 6; i++) {
			Claim plain = claim(key, "a");
			Claim claim = new Claim(key, plain.owner(), "a", LONG, true);
			Attempt attempt = (i % 2 == 0) ? backend.acquire(claim) : backend.acquireOrRegister(claim);
			assertThat(attempt.acquired()).isTrue();
			long token = attempt.fencingToken().orElseThrow();
			assertThat(token).isGreaterThan(last);
			last = token;
			backend.release(key, claim.owner());
		}
		assertThat(last).as("not less than the time").isGreaterThan(System.currentTimeMillis() * 1000 - 60_000_000);
		assertThat(backend.acquire(claim(key, "a")).fencingToken()).as("not asked for").isEmpty();
	}

	@ContractTest
	void aFencedClaimThatFindsItsOwnTokenGetsAnotherNumber(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim claim = new Claim(key, claim(key, "a").owner(), "a", LONG, true);
		long unheard = backend.acquire(claim).fencingToken().orElseThrow();
		assertThat(backend.acquireOrRegister(claim).fencingToken().orElseThrow()).isGreaterThan(unheard);
	}

	@ContractTest
	void aFencedClaimThatIsRefusedGetsNoTokenAndDoesNotWait(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		Claim fenced = new Claim(key, claim(key, "b").owner(), "b", LONG, true);
		assertThat(backend.acquire(fenced).acquired()).isFalse();
		assertThat(backend.acquire(fenced).fencingToken()).isEmpty();
		backend.release(key, holder.owner());
		assertThat(backend.acquire(claim(key, "c")).acquired()).as("free, since nobody registered").isTrue();
		assertThat(b.heard()).isEmpty();
	}

	@ContractTest
	void keysAreIndependent(String store) {
		LockBackend backend = open(store);
		String key = key();
		for (String other : List.of(key, "{" + key + "}", key + "}", key + "%7D", "-waiters:" + key, ":" + key)) {
			assertThat(backend.acquire(claim(other, "a")).acquired()).as("key %s is free", other).isTrue();
		}
	}

	@ContractTest
	void aLeaseRunsOut(String store) {
		LockBackend backend = open(store);
		String key = key();
		backend.acquire(claim(key, "a", SHORT));
		assertThat(backend.acquire(claim(key, "b")).acquired()).as("acquired within the lease").isFalse();
		await().until(() -> backend.acquire(claim(key, "b")).acquired());
	}

	@ContractTest
	void aSecondAttemptOfTheOwnerNeverShortens(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim claim = claim(key, "a", RENEWABLE);
		assertThat(backend.acquireOrRegister(claim).acquired()).isTrue();
		Claim extended = new Claim(key, claim.owner(), "a", LONG);
		assertThat(backend.renew(List.of(extended))).containsExactly(true);
		assertThat(backend.acquireOrRegister(claim).acquired()).as("its own").isTrue();
		staysOwned(backend, extended);
	}

	// Renew

	@ContractTest
	void aRenewedLeaseLasts(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim claim = claim(key, "a", RENEWABLE);
		backend.acquire(claim);
		assertThat(backend.renew(List.of(new Claim(key, claim.owner(), "a", LONG)))).containsExactly(true);
		staysOwned(backend, claim);
	}

	@ContractTest
	void aRenewalNeverShortens(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim claim = held(backend, key, "a");
		assertThat(backend.renew(List.of(new Claim(key, claim.owner(), "a", RENEWABLE)))).containsExactly(true);
		staysOwned(backend, claim);
	}

	@ContractTest
	void renewalsAreAnsweredOneByOneInOrder(String store) {
		LockBackend backend = open(store);
		Claim mine = held(backend, key(), "a");
		Claim gone = claim(key(), "a");
		Claim stranger = claim(held(backend, key(), "b").key(), "a");
		assertThat(backend.renew(List.of(gone, mine, stranger, mine))).containsExactly(false, true, false, true);
		assertThat(backend.renew(List.of())).isEmpty();
		assertThat(backend.acquire(claim(gone.key(), "c")).acquired()).as("a renewal makes no key").isTrue();
	}

	@ContractTest
	void manyAreRenewedAtOnce(String store) {
		LockBackend backend = open(store);
		List<Claim> claims = IntStream.range(0, 450).mapToObj((i) -> held(backend, key(), "a")).toList();
		Claim lost = claims.get(321);
		backend.release(lost.key(), lost.owner());
		List<Boolean> renewed = backend.renew(claims);
		assertThat(renewed).hasSize(450);
		assertThat(IntStream.range(0, 450).filter((i) -> !renewed.get(i)).boxed()).containsExactly(321);
	}

	// Park

	@ContractTest
	void aParkedKeyRunsOutAndIsNobodys(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim claim = held(backend, key, "a");
		assertThat(backend.park(key, claim.owner(), SHORT)).as("owned").isTrue();
		Attempt attempt = backend.acquire(claim(key, "b"));
		assertThat(attempt.acquired()).as("acquired while parked").isFalse();
		assertThat(attempt.holder()).isIn(null, LockBackend.PARKED + claim.owner());
		assertThat(backend.renew(List.of(claim))).as("revived").containsExactly(false);
		assertThat(backend.release(key, claim.owner())).as("released").isFalse();
		await().until(() -> backend.acquire(claim(key, "b")).acquired());
	}

	@ContractTest
	void onlyTheOwnerParks(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim claim = held(backend, key, "a");
		assertThat(backend.park(key, claim(key, "a").owner(), SHORT)).as("owned").isFalse();
		staysOwned(backend, claim);
		assertThat(backend.renew(List.of(claim))).containsExactly(true);
	}

}
