package io.github.distributedlock.tck;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.backend.Attempt;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.fixtures.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * What every {@link LockBackend} has to do: the inherited tests are about owners and how
 * they pass a key on, these about those who wait. A backend's own test class extends this
 * one and says how a backend is made. Time is real and leases are short; nothing waits
 * for a fixed time and hopes, and what fails while the machine stands still is done
 * again.
 */
public abstract class LockBackendContractTests extends PassingContractTests {

	/**
	 * Whether the store can tell that nobody listens for an instance.
	 * @return {@code false} if it takes everybody for listening
	 */
	protected boolean knowsWhoHears() {
		return true;
	}

	// Acquire or register

	@ContractTest
	void aFreeKeyIsAcquiredInsteadOfWaitedFor(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear a = listen(backend, "a");
		Claim claim = claim(key, "a");
		assertThat(backend.acquireOrRegister(claim)).isEqualTo(Attempt.ACQUIRED);
		assertThat(backend.acquire(claim(key, "b")).acquired()).isFalse();
		backend.release(key, claim.owner());
		assertThat(backend.acquire(claim(key, "b")).acquired()).as("free, since nobody registered").isTrue();
		assertThat(a.heard()).isEmpty();
	}

	@ContractTest
	void whoHasRegisteredHears(String store) {
		LockBackend backend = open(store);
		String key = key();
		LockBackend.Listening listening = backend.listen("b", new Ear());
		held(backend, key, "a");
		backend.acquireOrRegister(claim(key, "b"));
		assertThat(listening.hears()).as("hears").isTrue();
	}

	@ContractTest
	void whoRegistersIsToldTheHolder(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim holder = held(backend, key, "a");
		Attempt attempt = backend.acquireOrRegister(claim(key, "b"));
		assertThat(attempt.acquired()).isFalse();
		assertThat(attempt.holder()).as("holder, where the store says so").isIn(null, holder.owner());
	}

	@ContractTest
	void whoRegistersIsToldForHowLongTheKeyIsHeld(String store) {
		LockBackend backend = open(store);
		String key = key();
		held(backend, key, "a");
		Attempt attempt = backend.acquireOrRegister(claim(key, "b"));
		assertThat(attempt.left()).as("left of a lease of " + LONG).isBetween(LONG.dividedBy(2), LONG.plusMillis(1));
	}

	@ContractTest
	void aKeyIsFreeWhenTheTimeIsOverThatWasTold(String store) throws Exception {
		LockBackend backend = open(store);
		String key = key();
		backend.acquire(claim(key, "a", SHORT));
		Claim waiting = claim(key, "b");
		Attempt attempt = backend.acquireOrRegister(waiting);
		if (!attempt.acquired()) {
			TimeUnit.NANOSECONDS.sleep(attempt.left().toNanos());
			attempt = backend.acquireOrRegister(waiting);
		}
		assertThat(attempt.acquired()).as("acquired by the question at the end of the lease").isTrue();
	}

	@ContractTest
	void whoRegistersIsToldForHowLongAParkedKeyRests(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim holder = held(backend, key, "a");
		Duration rest = LONG.multipliedBy(2);
		assertThat(backend.park(key, holder.owner(), rest)).isTrue();
		Attempt attempt = backend.acquireOrRegister(claim(key, "b"));
		assertThat(attempt.left()).as("left of a rest of " + rest).isBetween(LONG, rest.plusMillis(1));
	}

	@ContractTest
	void busyByTheOwnTokenIsAnAcquisitionWithAFullLease(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim claim = claim(key, "a", RENEWABLE);
		backend.acquire(claim);
		Claim again = new Claim(key, claim.owner(), "a", LONG);
		assertThat(backend.acquireOrRegister(again).acquired()).as("acquired what is its own").isTrue();
		staysOwned(backend, claim);
		assertThat(backend.release(key, claim.owner())).isTrue();
	}

	@ContractTest
	void acquiringEndsTheRegistration(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		backend.acquire(claim(key, "a", SHORT));
		Claim waiting = claim(key, "b");
		// The second attempt acquires since the lease ran out, not since it was woken.
		await().until(() -> backend.acquireOrRegister(waiting).acquired());
		backend.release(key, waiting.owner());
		assertThat(backend.acquire(claim(key, "c")).acquired()).as("free, as nobody waits any more").isTrue();
		assertThat(b.heard()).as("wake-ups of who does not wait").isEmpty();
	}

	// Release and waking

	@ContractTest
	void aReleasedKeyIsFree(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim holder = held(backend, key, "a");
		assertThat(backend.release(key, holder.owner())).as("owned").isTrue();
		assertThat(backend.acquire(claim(key, "b")).acquired()).as("free after release").isTrue();
	}

	@ContractTest
	void onlyTheOwnerReleases(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		backend.acquireOrRegister(claim(key, "b"));
		assertThat(backend.release(key, claim(key, "a").owner())).as("owned").isFalse();
		assertThat(backend.acquire(claim(key, "c")).acquired()).as("free by a stranger's release").isFalse();
		assertThat(backend.renew(List.of(holder))).containsExactly(true);
		assertThat(b.heard()).isEmpty();
	}

	@ContractTest
	void theWaiterIsWokenAndTheKeyIsReservedForIt(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		backend.acquireOrRegister(claim(key, "b"));
		assertThat(backend.release(key, holder.owner())).isTrue();
		Attempt barging = backend.acquireOrRegister(claim(key, "a"));
		Attempt woken = backend.acquireOrRegister(claim(key, "b"));
		assertThat(barging.acquired()).as("who released takes it again before who waits").isFalse();
		assertThat(barging.holder()).isIn(null, LockBackend.RESERVED + "b");
		assertThat(woken.acquired()).as("who was woken gets what is reserved for it").isTrue();
		b.awaitWake(key);
		assertThat(b.heard()).containsExactly(key);
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
		await("the end of the reservation, which is not that of the lease")
			.until(() -> backend.acquire(claim(key, "c")).acquired());
	}

	@ContractTest
	void exactlyOneIsWokenInTheOrderOfRegistration(String store) {
		LockBackend backend = open(store);
		String key = key();
		List<String> instances = List.of("c", "a", "b");
		List<Ear> ears = instances.stream().map((instance) -> listen(backend, instance)).toList();
		Claim holder = held(backend, key, "z");
		instances.forEach((instance) -> backend.acquireOrRegister(claim(key, instance)));
		backend.acquireOrRegister(claim(key, "c"));
		for (int i = 0; i < ears.size(); i++) {
			backend.release(key, holder.owner());
			ears.get(i).awaitWake(key);
			assertThat(ears.stream().mapToInt((ear) -> ear.heard().size()).sum()).as("woken so far").isEqualTo(i + 1);
			holder = claim(key, instances.get(i));
			acquired(backend, holder);
		}
	}

	@ContractTest
	void whoCannotHearIsSkipped(String store) {
		assumeTrue(knowsWhoHears());
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
		assumeTrue(knowsWhoHears());
		LockBackend backend = open(store);
		String key = key();
		Claim holder = held(backend, key, "a");
		backend.acquireOrRegister(claim(key, "dead"));
		backend.release(key, holder.owner());
		assertThat(backend.acquire(claim(key, "c")).acquired()).as("free").isTrue();
	}

	@ContractTest
	void whoStoppedListeningIsSkipped(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear gone = new Ear();
		LockBackend.Listening listening = backend.listen("gone", gone);
		Claim holder = held(backend, key, "a");
		backend.acquireOrRegister(claim(key, "gone"));
		listening.close();
		// The store may learn of it a moment later.
		await().until(() -> {
			backend.release(key, holder.owner());
			return backend.acquire(new Claim(key, holder.owner(), "a", LONG)).acquired();
		});
		assertThat(gone.heard()).hasSizeLessThan(2);
	}

	@ContractTest
	void aReleaseThatFindsTheKeyGoneWakes(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		backend.acquireOrRegister(claim(key, "b"));
		backend.park(key, holder.owner(), Duration.ofMillis(1));
		await().until(() -> {
			assertThat(backend.release(key, holder.owner())).as("owned").isFalse();
			return b.heard().contains(key);
		});
		acquired(backend, claim(key, "b"));
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
		backend.withdraw(key, "b");
		assertThat(backend.renew(List.of(holder))).as("still owned").containsExactly(true);
		backend.release(key, holder.owner());
		c.awaitWake(key);
		assertThat(b.heard()).isEmpty();
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
		backend.withdraw(key, "b");
		Attempt barging = backend.acquire(claim(key, "a"));
		assertThat(barging.acquired()).as("free though the next one waits").isFalse();
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
		assertThat(backend.acquire(claim(key, "c")).acquired()).as("free before").isFalse();
		backend.withdraw(key, "b");
		assertThat(backend.acquire(claim(key, "c")).acquired()).as("free after").isTrue();
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
		backend.withdraw(key, "c");
		assertThat(backend.acquireOrRegister(claim(key, "b")).acquired()).as("still reserved for b").isTrue();
		assertThat(c.heard()).isEmpty();
	}

	@ContractTest
	void aWithdrawalFromAFreeKeyWakesTheNext(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear c = listen(backend, "c");
		Claim holder = held(backend, key, "a");
		backend.acquireOrRegister(claim(key, "b"));
		backend.acquireOrRegister(claim(key, "c"));
		backend.park(key, holder.owner(), Duration.ofMillis(1));
		await().until(() -> {
			backend.withdraw(key, "b");
			return c.heard().contains(key);
		});
		acquired(backend, claim(key, "c"));
	}

	// Everything together

	@ContractTest
	void thereIsNeverMoreThanOneOwner(String store) throws Exception {
		LockBackend backend = open(store);
		String key = key();
		AtomicInteger inside = new AtomicInteger();
		AtomicInteger rounds = new AtomicInteger();
		List<String> wrong = new CopyOnWriteArrayList<>();
		List<Thread> threads = Stream.of("a", "b", "c", "d").map((instance) -> {
			listen(backend, instance);
			return new Thread(() -> {
				for (int i = 0; i < 100; i++) {
					Claim claim = claim(key, instance);
					await().pollDelay(Duration.ZERO)
						.pollInterval(Duration.ofMillis(1))
						.until(() -> backend.acquireOrRegister(claim).acquired());
					if (inside.incrementAndGet() != 1) {
						wrong.add(instance);
					}
					inside.decrementAndGet();
					rounds.incrementAndGet();
					backend.release(key, claim.owner());
				}
			});
		}).toList();
		threads.forEach(Thread::start);
		threads.forEach(Patience::join);
		assertThat(wrong).as("who was not alone").isEmpty();
		assertThat(rounds).hasValue(400);
	}

}
