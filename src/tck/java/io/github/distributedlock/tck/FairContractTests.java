package io.github.distributedlock.tck;

import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackend.Renewal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.Holder;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.backend.Waiter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The contract on the order of waiters, and on waiters that count as dead, for a store
 * that offers fair locks.
 */
abstract class FairContractTests extends ContractBench {

	/**
	 * Returns after how long the store takes a silent waiter for dead. The tests wait for
	 * that long: if the store takes longer, the tests of dead waiters fail now and then.
	 * @return the time, a second unless a store's tests override this method
	 */
	protected Duration silence() {
		return Duration.ofSeconds(1);
	}

	@ContractTest
	void ticketsAreServedInTheOrderOfTheirArrival(String store) {
		LockBackend backend = open(store, LockFeature.FAIR);
		String key = key();
		List<Ear> ears = Stream.of("a", "b").map((instance) -> listen(backend, instance)).toList();
		Claim holder = held(backend, key, "z");
		List<Claim> tickets = Stream.of("b", "a", "a", "b", "a").map((instance) -> fair(key, instance)).toList();
		tickets.forEach((ticket) -> assertFalse(backend.acquireOrRegister(ticket).acquired()));
		List<String> served = new ArrayList<>();
		while (served.size() < tickets.size()) {
			backend.release(key, holder.owner());
			// The last comes first, and gets nothing by that.
			for (int i = tickets.size() - 1; i >= served.size(); i--) {
				Claim ticket = tickets.get(i);
				if (backend.acquireOrRegister(ticket).acquired()) {
					served.add(ticket.owner());
					holder = ticket;
					break;
				}
			}
		}
		assertEquals(tickets.stream().map(Claim::owner).toList(), served);
		backend.release(key, holder.owner());
		assertTrue(backend.acquire(claim(key, "c")).acquired(), "free, as no ticket is left");
		if (backend.features().contains(LockFeature.NOTIFICATIONS)) {
			eventually(() -> wakeUps(ears) >= tickets.size());
			assertEquals(tickets.size(), wakeUps(ears));
		}
	}

	private static int wakeUps(List<Ear> ears) {
		return ears.stream().mapToInt((ear) -> ear.waiters().size()).sum();
	}

	@ContractTest
	void aTicketIsWokenByItsName(String store) {
		LockBackend backend = open(store, LockFeature.FAIR);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		Claim ticket = fair(key, "b");
		backend.acquireOrRegister(ticket);
		backend.release(key, holder.owner());
		b.awaitWake(key);
		b.assertWoken(List.of(ticket.waiter()));
		assertFalse(backend.acquireOrRegister(fair(key, "b")).acquired(), "another of that instance");
		acquired(backend, ticket);
	}

	@ContractTest
	void whoMayNotWaitComesInOnlyIfNobodyWaits(String store) {
		LockBackend backend = open(store, LockFeature.FAIR, LockFeature.NOTIFICATIONS);
		String key = key();
		Ear b = listen(backend, "b");
		Claim first = fair(key, "a");
		assertTrue(backend.acquire(first).acquired(), "free");
		Claim impatient = fair(key, "a");
		assertFalse(backend.acquire(impatient).acquired(), "busy");
		Claim ticket = fair(key, "b");
		backend.acquireOrRegister(ticket);
		backend.release(key, first.owner());
		// The reservation runs out, and this attempt renews the reservation.
		eventually(() -> {
			assertFalse(backend.acquire(impatient).acquired(), "before who waits");
			return b.waiters().size() > 1;
		});
		acquired(backend, ticket);
		backend.release(key, ticket.owner());
		assertTrue(backend.acquire(claim(key, "c")).acquired(), "free, as it left no ticket");
	}

	@ContractTest
	void aTicketKeepsItsPlaceUntilItHasTheKey(String store) {
		LockBackend backend = open(store, LockFeature.FAIR, LockFeature.NOTIFICATIONS);
		String key = key();
		Ear b = listen(backend, "b");
		listen(backend, "c");
		Claim holder = held(backend, key, "a");
		Claim first = fair(key, "b");
		Claim second = fair(key, "c");
		Claim third = fair(key, "b");
		Stream.of(first, second, third).forEach(backend::acquireOrRegister);
		backend.release(key, holder.owner());
		eventually(() -> {
			assertFalse(backend.acquireOrRegister(second).acquired(), "before the first");
			assertFalse(backend.acquireOrRegister(third).acquired(), "before the first");
			return b.waiters().size() > 2;
		});
		assertEquals(Set.of(first.waiter()), Set.copyOf(b.waiters()), "renewed for");
		acquired(backend, first);
	}

	@ContractTest
	void aTicketThatIsWithdrawnPassesItsWakeUpOn(String store) {
		LockBackend backend = open(store, LockFeature.FAIR);
		String key = key();
		listen(backend, "b");
		Ear c = listen(backend, "c");
		Claim holder = held(backend, key, "a");
		Claim first = fair(key, "b");
		Claim gone = fair(key, "b");
		Claim last = fair(key, "c");
		Stream.of(first, gone, last).forEach(backend::acquireOrRegister);
		backend.withdraw(key, gone.waiter(), Set.of());
		backend.release(key, holder.owner());
		backend.withdraw(key, first.waiter(), Set.of());
		c.awaitWake(key);
		acquired(backend, last);
	}

	@ContractTest
	void whatIsItsOwnIsAcquiredAgain(String store) {
		LockBackend backend = open(store, LockFeature.FAIR);
		String key = key();
		Claim holder = fair(key, "a");
		assertTrue(backend.acquireOrRegister(holder).acquired());
		assertTrue(backend.acquireOrRegister(holder).acquired());
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(holder))));
		assertTrue(backend.release(key, holder.owner()));
	}

	@ContractTest
	void whoIsNotFairHasAPlaceAmongTickets(String store) {
		LockBackend backend = open(store, LockFeature.FAIR);
		String key = key();
		Ear b = listen(backend, "b");
		Ear c = listen(backend, "c");
		Claim holder = held(backend, key, "a");
		Claim unfair = claim(key, "b");
		Claim ticket = fair(key, "c");
		backend.acquireOrRegister(unfair);
		backend.acquireOrRegister(ticket);
		backend.release(key, holder.owner());
		b.awaitWake(key);
		acquired(backend, unfair);
		backend.pass(unfair.owner(), claim(key, "b"), true);
		c.awaitWake(key);
		acquired(backend, ticket);
		b.assertWoken(List.of(Waiter.exclusive("b")));
	}

	@ContractTest
	void fiftyDeadTicketsOfOneInstanceAreSkipped(String store) {
		skips(store, IntStream.range(0, 50).mapToObj((i) -> "dead").toList());
	}

	@ContractTest
	void deadTicketsOfFiftyInstancesAreSkipped(String store) {
		skips(store, IntStream.range(0, 50).mapToObj((i) -> "dead-" + i).toList());
	}

	private void skips(String store, List<String> dead) {
		LockBackend backend = open(store, LockFeature.FAIR);
		String key = key();
		listen(backend, "b");
		Claim holder = held(backend, key, "a");
		dead.forEach((instance) -> backend.acquireOrRegister(fair(key, instance)));
		Claim ticket = fair(key, "b");
		// All are silent then: on a slow machine each registered long after the one
		// before.
		pollFor(silence().plusMillis(100), backend, ticket);
		backend.release(key, holder.owner());
		Set<Holder> reservations = new HashSet<>();
		eventually(() -> {
			AcquireResult attempt = backend.acquireOrRegister(ticket);
			if (!attempt.acquired()) {
				reservations.add(attempt.holder());
			}
			return attempt.acquired();
		});
		assertTrue(reservations.size() < dead.size() / 2, "for whom it was kept before");
	}

	@ContractTest
	void instancesThatWereSilentGoAtOnce(String store) {
		LockBackend backend = open(store, LockFeature.FAIR);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		IntStream.range(0, 50).forEach((i) -> backend.acquireOrRegister(claim(key, "dead-" + i)));
		Claim waiting = claim(key, "b");
		pollFor(silence().plusMillis(100), backend, waiting);
		backend.release(key, holder.owner());
		assertFalse(backend.acquire(claim(key, "c")).acquired(), "free");
		b.awaitWake(key);
		acquired(backend, waiting);
		backend.release(key, waiting.owner());
		assertTrue(backend.acquire(claim(key, "c")).acquired(), "free, as no dead are left");
	}

	@ContractTest
	void noTicketDiesWhileItsOwnInstanceHasTheKey(String store) {
		LockBackend backend = open(store, LockFeature.FAIR);
		String key = key();
		Ear a = listen(backend, "a");
		listen(backend, "b");
		Claim holder = held(backend, key, "a");
		Claim mine = fair(key, "a");
		Claim other = fair(key, "b");
		backend.acquireOrRegister(mine);
		pollFor(silence().plusMillis(100), backend, other);
		backend.release(key, holder.owner());
		a.awaitWake(key);
		assertFalse(backend.acquireOrRegister(other).acquired(), "before who came first");
		acquired(backend, mine);
	}

	// Somebody else has the key for as long as that.
	static void pollFor(Duration time, LockBackend backend, Claim waiting) {
		during(time, () -> assertFalse(backend.acquireOrRegister(waiting).acquired(), "acquired meanwhile"));
	}

}
