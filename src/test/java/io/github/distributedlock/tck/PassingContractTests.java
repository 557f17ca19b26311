package io.github.distributedlock.tck;

import java.util.List;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.Attempt;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.Passing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The contract as far as a key is passed on inside its JVM.
 */
abstract class PassingContractTests extends OwnershipContractTests {

	@ContractTest
	void anOwnerPassesItsKeyOnPastThoseWhoWait(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		Claim first = held(backend, key, "a");
		Claim next = claim(key, "a");
		backend.acquireOrRegister(claim(key, "b"));
		assertThat(backend.pass(first.owner(), next, false)).isEqualTo(new Passing(true, Attempt.ACQUIRED));
		assertThat(backend.renew(List.of(first, next))).as("owner before, owner now").containsExactly(false, true);
		assertThat(backend.release(key, first.owner())).as("released by the owner before").isFalse();
		assertThat(b.heard()).isEmpty();
		assertThat(backend.release(key, next.owner())).isTrue();
		b.awaitWake(key);
	}

	@ContractTest
	void theNextOneHasItsOwnLease(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim first = claim(key, "a", RENEWABLE);
		backend.acquire(first);
		Claim next = claim(key, "a");
		assertThat(backend.pass(first.owner(), next, false).next().acquired()).isTrue();
		staysOwned(backend, next);
		Claim shortest = claim(key, "a", SHORT);
		assertThat(backend.pass(next.owner(), shortest, false).next().acquired()).isTrue();
		await().until(() -> backend.acquire(claim(key, "b")).acquired());
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
		Passing passing = backend.pass(first.owner(), next, true);
		assertThat(passing.owned()).as("owned").isTrue();
		assertThat(passing.next().acquired()).as("before those who wait").isFalse();
		assertThat(passing.next().holder()).isIn(null, LockBackend.RESERVED + "b");
		b.awaitWake(key);
		Claim holder = claim(key, "b");
		acquired(backend, holder);
		backend.release(key, holder.owner());
		c.awaitWake(key);
		assertThat(a.heard()).isEmpty();
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
		assertThat(backend.pass(first.owner(), next, true)).isEqualTo(new Passing(true, Attempt.ACQUIRED));
		assertThat(backend.renew(List.of(first, next))).containsExactly(false, true);
	}

	@ContractTest
	void whoPassesOnWhatIsAnothersWaitsForIt(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear a = listen(backend, "a");
		Claim holder = held(backend, key, "b");
		Claim next = claim(key, "a");
		for (boolean yields : List.of(false, true)) {
			Passing passing = backend.pass(claim(key, "a").owner(), next, yields);
			assertThat(passing.owned()).as("owned").isFalse();
			assertThat(passing.next().acquired()).as("acquired").isFalse();
			assertThat(passing.next().holder()).isIn(null, holder.owner());
		}
		assertThat(backend.renew(List.of(holder))).containsExactly(true);
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
			assertThat(backend.pass(claim(key, "a").owner(), next, yields))
				.isEqualTo(new Passing(false, Attempt.ACQUIRED));
			assertThat(backend.release(key, next.owner())).as("owned").isTrue();
		}
	}

	@ContractTest
	void whoTakesOverAgainFindsItsOwn(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim first = held(backend, key, "a");
		Claim next = claim(key, "a");
		backend.pass(first.owner(), next, false);
		// As after an answer that got lost.
		assertThat(backend.pass(first.owner(), next, true)).isEqualTo(new Passing(false, Attempt.ACQUIRED));
		assertThat(backend.renew(List.of(next))).containsExactly(true);
	}

	@ContractTest
	void whoTakesOverGetsAFencingToken(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim first = new Claim(key, claim(key, "a").owner(), "a", LONG, true);
		long token = backend.acquire(first).fencingToken().orElseThrow();
		Claim next = new Claim(key, claim(key, "a").owner(), "a", LONG, true, LockMode.EXCLUSIVE, false);
		Attempt attempt = backend.pass(first.owner(), next, false).next();
		assertThat(attempt.fencingToken().orElseThrow()).isGreaterThan(token);
	}

}
