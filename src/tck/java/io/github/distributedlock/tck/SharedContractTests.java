package io.github.distributedlock.tck;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.engine.LockEngine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The contract of a {@link io.github.distributedlock.backend.LockBackend} that offers
 * fair or shared locks, or permits: the inherited tests are about the order of those who
 * wait and about permits, these about readers. What a store does not offer is skipped,
 * and the report says so.
 */
public abstract class SharedContractTests extends PermitContractTests {

	@ContractTest
	void sharedLocksThatAreOfferedAreNotRefused(String store) {
		open(store, LockFeature.SHARED).checkSupport(LockRequest.of("k").mode(LockMode.SHARED));
	}

	@ContractTest
	void readersHaveTheKeyTogetherAndWritersAlone(String store) {
		LockBackend backend = open(store, LockFeature.SHARED);
		String key = key();
		List<Claim> readers = List.of(reader(key, "a"), reader(key, "a"), reader(key, "b"));
		readers.forEach((reader) -> assertEquals(AcquireResult.ACQUIRED, backend.acquire(reader)));
		assertEquals(List.of(true, true, true), backend.renew(readers.stream().map(Renewal::of).toList()));
		Claim writer = claim(key, "c");
		Set<String> left = readers.stream().map(Claim::owner).collect(Collectors.toSet());
		for (Claim reader : readers) {
			AcquireResult attempt = backend.acquire(writer);
			assertFalse(attempt.acquired(), "while it is read");
			assertTrue(attempt.holder() == null || left.contains(attempt.holder().name()), "told one of the readers");
			left.remove(reader.owner());
			assertTrue(backend.release(key, reader.owner()));
			assertFalse(backend.release(key, reader.owner()), "owned still");
		}
		assertTrue(backend.acquire(writer).acquired(), "free");
		assertFalse(backend.acquire(reader(key, "a")).acquired(), "while it is written");
		assertEquals(List.of(false, true), backend.renew(List.of(Renewal.of(readers.get(0)), Renewal.of(writer))));
		assertFalse(backend.release(key, readers.get(0).owner()), "owned");
		assertTrue(backend.release(key, writer.owner()));
		assertTrue(backend.acquireOrRegister(reader(key, "a")).acquired());
	}

	@ContractTest
	void allReadersAreToldAndTheWriterThatWaits(String store) {
		LockBackend backend = open(store, LockFeature.SHARED);
		String key = key();
		assertAllAreTold(backend, List.of(reader(key, "a"), reader(key, "b")), claim(key, "c"));
	}

	@ContractTest
	void severalKeysAreSharedAndGivenBackTogether(String store) {
		LockBackend backend = open(store, LockFeature.SHARED);
		List<String> keys = LockBackendContractTests.keysOfOneNode();
		Ear c = listen(backend, "c");
		List<Claim> readers = keys.stream()
			.map((key) -> Claim.of(key, "a:1", "a", LONG).mode(LockMode.SHARED))
			.toList();
		readers.forEach((reader) -> acquired(backend, reader));
		Claim stays = reader(keys.get(0), "b");
		acquired(backend, stays);
		List<Claim> writers = keys.stream().map((key) -> claim(key, "c")).toList();
		writers.forEach((writer) -> assertFalse(backend.acquireOrRegister(writer).acquired()));
		assertEquals(List.of(true, true), backend.releaseAll(keys, "a:1"));
		c.awaitWake(keys.get(1));
		acquired(backend, writers.get(1));
		assertFalse(backend.acquireOrRegister(writers.get(0)).acquired(), "while it is read");
		backend.release(keys.get(0), stays.owner());
		acquired(backend, writers.get(0));
	}

	@ContractTest
	void aWaitingWriterComesBeforeReadersThatCameLater(String store) {
		LockBackend backend = open(store, LockFeature.SHARED);
		String key = key();
		Ear b = listen(backend, "b");
		Ear c = listen(backend, "c");
		Claim first = reader(key, "a");
		Claim writer = claim(key, "b");
		Claim late = reader(key, "c");
		backend.acquire(first);
		assertFalse(backend.acquireOrRegister(writer).acquired());
		assertFalse(backend.acquire(reader(key, "a")).acquired(), "past the writer");
		assertFalse(backend.acquireOrRegister(late).acquired(), "past the writer");
		backend.release(key, first.owner());
		assertFalse(backend.acquireOrRegister(late).acquired(), "what is reserved for the writer");
		b.awaitWake(key);
		b.assertWoken(List.of(Waiter.exclusive("b")));
		acquired(backend, writer);
		c.assertHeard(List.of());
		backend.release(key, writer.owner());
		c.awaitWake(key);
		c.assertWoken(List.of(Waiter.shared("c")));
		acquired(backend, late);
	}

	@ContractTest
	void allReadersThatAreNextComeInTogether(String store) {
		LockBackend backend = open(store, LockFeature.SHARED);
		String key = key();
		List<Ear> ears = Stream.of("b", "c", "d", "e").map((instance) -> listen(backend, instance)).toList();
		Claim holder = held(backend, key, "a");
		Claim writer = claim(key, "d");
		List<Claim> readers = List.of(reader(key, "b"), reader(key, "c"));
		readers.forEach(backend::acquireOrRegister);
		backend.acquireOrRegister(writer);
		Claim late = reader(key, "e");
		backend.acquireOrRegister(late);
		backend.release(key, holder.owner());
		ears.subList(0, 2).forEach((ear) -> ear.awaitWake(key));
		assertFalse(backend.acquire(writer).acquired(), "what is reserved for readers");
		readers.forEach((reader) -> acquired(backend, reader));
		assertFalse(backend.acquireOrRegister(late).acquired(), "past the writer");
		ears.subList(2, 4).forEach((ear) -> ear.assertHeard(List.of()));
		readers.forEach((reader) -> backend.release(key, reader.owner()));
		ears.get(2).awaitWake(key);
		acquired(backend, writer);
	}

	@ContractTest
	void aReservationIsForAllReadersOfTheInstanceUntilOneOfThemGoes(String store) {
		LockBackend backend = open(store, LockFeature.SHARED);
		String key = key();
		listen(backend, "b");
		listen(backend, "c");
		Claim holder = held(backend, key, "a");
		Claim first = reader(key, "b");
		Claim second = reader(key, "b");
		backend.acquireOrRegister(first);
		backend.acquireOrRegister(claim(key, "c"));
		backend.release(key, holder.owner());
		assertTrue(backend.acquireOrRegister(first).acquired());
		assertTrue(backend.acquireOrRegister(second).acquired());
		backend.release(key, first.owner());
		assertFalse(backend.acquireOrRegister(reader(key, "b")).acquired(), "past the writer");
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(second))));
	}

	@ContractTest
	void eachReaderHasItsOwnLease(String store) {
		LockBackend backend = open(store, LockFeature.SHARED);
		String key = key();
		Claim shortly = reader(key, "a", SHORT);
		Claim long1 = reader(key, "b");
		backend.acquire(shortly);
		backend.acquire(long1);
		eventually(() -> !backend.renew(List.of(Renewal.of(shortly.lease(Duration.ofMillis(1))))).get(0));
		assertFalse(backend.release(key, shortly.owner()), "owned");
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(long1))));
		assertFalse(backend.acquire(claim(key, "c")).acquired(), "free");
		Claim last = reader(key, "a", SHORT);
		assertTrue(backend.acquire(last).acquired());
		backend.release(key, long1.owner());
		// The key is free long before the end of the longest lease.
		eventually(() -> backend.acquire(claim(key, "c")).acquired());
	}

	@ContractTest
	void aReaderIsRenewedAndNeverShortened(String store) {
		LockBackend backend = open(store, LockFeature.SHARED);
		String key = key();
		Claim reader = reader(key, "a", RENEWABLE);
		backend.acquire(reader);
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(reader.lease(LONG)))));
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(reader))));
		assertTrue(backend.acquireOrRegister(reader).acquired(), "its own");
		staysOwned(backend, reader);
	}

	@ContractTest
	void aDeadReaderIsInNobodysWay(String store) {
		LockBackend backend = open(store, LockFeature.SHARED);
		String key = key();
		listen(backend, "b");
		backend.acquire(reader(key, "a", SHORT));
		Claim writer = claim(key, "b");
		assertFalse(backend.acquireOrRegister(writer).acquired());
		eventually(() -> backend.acquireOrRegister(writer).acquired());
	}

	@ContractTest
	void aDeadWriterThatWaitsIsInNobodysWay(String store) {
		LockBackend backend = open(store, LockFeature.SHARED);
		String key = key();
		listen(backend, "b");
		backend.acquire(reader(key, "a"));
		backend.acquireOrRegister(claim(key, "dead"));
		Claim late = reader(key, "b");
		eventually("past a dead writer, though the reader lasts", () -> backend.acquireOrRegister(late).acquired());
	}

	@ContractTest
	void aWriterThatGivesUpLetsReadersIn(String store) {
		LockBackend backend = open(store, LockFeature.SHARED);
		String key = key();
		listen(backend, "b");
		Ear c = listen(backend, "c");
		backend.acquire(reader(key, "a"));
		Claim writer = claim(key, "b");
		Claim late = reader(key, "c");
		backend.acquireOrRegister(writer);
		backend.acquireOrRegister(late);
		backend.withdraw(key, writer.waiter(), Set.of());
		c.awaitWake(key);
		acquired(backend, late);
	}

	@ContractTest
	void aReaderThatGivesUpPassesItsWakeUpOn(String store) {
		LockBackend backend = open(store, LockFeature.SHARED);
		String key = key();
		listen(backend, "b");
		Ear c = listen(backend, "c");
		Claim holder = held(backend, key, "a");
		Claim reader = reader(key, "b");
		Claim writer = claim(key, "c");
		backend.acquireOrRegister(reader);
		backend.acquireOrRegister(writer);
		backend.release(key, holder.owner());
		c.assertHeard(List.of());
		backend.withdraw(key, reader.waiter(), Set.of());
		c.awaitWake(key);
		acquired(backend, writer);
	}

	@ContractTest
	void whoYieldsLetsReadersIn(String store) {
		LockBackend backend = open(store, LockFeature.SHARED);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		Claim reader = reader(key, "b");
		backend.acquireOrRegister(reader);
		assertFalse(backend.pass(holder.owner(), claim(key, "a"), true).next().acquired());
		b.awaitWake(key);
		acquired(backend, reader);
	}

	@ContractTest
	void aDowngradedOwnerLetsReadersInAndKeepsWritersOut(String store) {
		LockBackend backend = open(store, LockFeature.SHARED);
		String key = key();
		Ear b = listen(backend, "b");
		Ear c = listen(backend, "c");
		Claim owner = held(backend, key, "a");
		Claim reader = reader(key, "b");
		Claim writer = claim(key, "c");
		assertFalse(backend.acquireOrRegister(reader).acquired());
		assertFalse(backend.acquireOrRegister(writer).acquired());
		assertTrue(backend.downgrade(key, owner.owner()), "owned");
		b.awaitWake(key);
		b.assertWoken(List.of(Waiter.shared("b")));
		acquired(backend, reader);
		assertTrue(backend.downgrade(key, owner.owner()), "owned still, by a reader");
		assertFalse(backend.acquireOrRegister(reader(key, "d")).acquired(), "past the writer");
		c.assertHeard(List.of());
		assertEquals(List.of(true, true), backend.renew(List.of(Renewal.of(owner), Renewal.of(reader))));
		assertTrue(backend.release(key, owner.owner()), "owned");
		assertFalse(backend.release(key, owner.owner()), "owned still");
		assertFalse(backend.acquireOrRegister(writer).acquired(), "while it is read");
		backend.release(key, reader.owner());
		c.awaitWake(key);
		acquired(backend, writer);
	}

	@ContractTest
	void aDowngradedOwnerKeepsItsLease(String store) {
		LockBackend backend = open(store, LockFeature.SHARED);
		String key = key();
		Claim lasting = held(backend, key, "a");
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(lasting.mode(LockMode.SHARED)))),
				"before the downgrade");
		assertTrue(backend.downgrade(key, lasting.owner()), "owned");
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(lasting.lease(RENEWABLE)))));
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(lasting.mode(LockMode.SHARED)))));
		staysOwned(backend, lasting);
		String other = key();
		Claim shortly = claim(other, "a", SHORT);
		acquired(backend, shortly);
		assertTrue(backend.downgrade(other, shortly.owner()), "owned");
		eventually(() -> backend.acquire(claim(other, "b")).acquired());
		assertFalse(backend.downgrade(other, shortly.owner()), "owned still");
	}

	@ContractTest
	void aDowngradedOwnerIsParkedAsAReader(String store) {
		LockBackend backend = open(store, LockFeature.SHARED);
		String key = key();
		Claim owner = held(backend, key, "a");
		backend.downgrade(key, owner.owner());
		assertTrue(backend.leaveToExpire(key, owner.owner(), RENEWABLE), "owned");
		assertTrue(backend.acquire(reader(key, "b")).acquired(), "read");
		assertFalse(backend.acquire(claim(key, "c")).acquired(), "written");
	}

	@ContractTest
	void onlyTheOwnerDowngrades(String store) {
		LockBackend backend = open(store, LockFeature.SHARED);
		String key = key();
		Claim former = held(backend, key, "a");
		assertTrue(backend.release(key, former.owner()));
		assertFalse(backend.downgrade(key, former.owner()), "owned what is free");
		Claim owner = held(backend, key, "b");
		assertFalse(backend.downgrade(key, former.owner()), "owned what is another's");
		assertFalse(backend.acquire(reader(key, "c")).acquired(), "while it is written");
		backend.downgrade(key, owner.owner());
		assertFalse(backend.downgrade(key, former.owner()), "owned what others read");
		assertEquals(List.of(false, true), backend.renew(List.of(Renewal.of(former), Renewal.of(owner))));
	}

	@ContractTest
	void aParkedReaderKeepsWritersOutAndLetsReadersIn(String store) {
		LockBackend backend = open(store, LockFeature.SHARED);
		String key = key();
		Claim parked = reader(key, "a");
		backend.acquire(parked);
		assertTrue(backend.leaveToExpire(key, parked.owner(), RENEWABLE), "owned");
		assertFalse(backend.leaveToExpire(key, parked.owner(), RENEWABLE), "owned still");
		assertEquals(List.of(false), backend.renew(List.of(Renewal.of(parked))), "revived");
		Claim reader = reader(key, "b");
		assertTrue(backend.acquire(reader).acquired(), "read");
		backend.release(key, reader.owner());
		assertFalse(backend.acquire(claim(key, "c")).acquired(), "written");
		assertFalse(backend.release(key, parked.owner()), "released");
		eventually(() -> backend.acquire(claim(key, "c")).acquired());
	}

	@ContractTest
	void aReaderGetsAFencingToken(String store) {
		LockBackend backend = open(store, LockFeature.SHARED, LockFeature.FENCING);
		String key = key();
		long last = 0;
		for (int i = 0; i < 3; i++) {
			Claim claim = reader(key, "a").fenced(true);
			long token = backend.acquire(claim).fencingToken();
			assertTrue(token > last);
			last = token;
		}
	}

	@ContractTest
	void noReaderIsEverThereWithAWriter(String store) {
		LockBackend backend = open(store, LockFeature.SHARED);
		boolean fair = backend.features().contains(LockFeature.FAIR);
		String key = key();
		AtomicInteger readers = new AtomicInteger();
		AtomicInteger writers = new AtomicInteger();
		AtomicInteger rounds = new AtomicInteger();
		List<String> wrong = new CopyOnWriteArrayList<>();
		List<String> instances = List.of("a", "b", "c", "d");
		instances.forEach((instance) -> listen(backend, instance));
		inThreads(instances, (instance) -> {
			boolean writes = instance.equals("a");
			for (int i = 0; i < 50; i++) {
				Claim claim = writes ? claim(key, instance).fair(fair && i % 2 != 0) : reader(key, instance);
				eventually("the lock", () -> backend.acquireOrRegister(claim).acquired());
				(writes ? writers : readers).incrementAndGet();
				if (writers.get() > 1 || (writers.get() == 1 && readers.get() > 0)) {
					wrong.add(instance);
				}
				(writes ? writers : readers).decrementAndGet();
				rounds.incrementAndGet();
				backend.release(key, claim.owner());
			}
		});
		assertEquals(List.of(), wrong, "the instances that were not to be there");
		assertEquals(200, rounds.get());
	}

	// Release by force

	@ContractTest
	void aReleaseByForceTakesTheShareOfTheNamedReader(String store) {
		LockBackend backend = open(store, LockFeature.SHARED, LockFeature.INSPECTION);
		String key = key();
		try (LockEngine holders = engine(backend, "holder"); LockEngine operators = engine(backend, "operator")) {
			LockHandle named = holders.acquire(LockRequest.of(key).mode(LockMode.SHARED).detached(true));
			Claim other = reader(key, "other");
			assertTrue(askAgain(backend, other).acquired(), "shared");
			assertTrue(operators.forceRelease(key, named.owner()), "released by force");
			assertEquals(List.of(other.owner()),
					backend.inspect(key).holders().stream().map(LockStatus.Holder::owner).toList());
			eventually("the loss", () -> !named.isHeld());
			assertTrue(backend.release(key, other.owner()), "the other's share");
		}
	}

}
