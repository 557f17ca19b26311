package io.github.distributedlock.tck;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.backend.Waiter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The contract on several permits for a key, for a store that offers permits.
 */
abstract class PermitContractTests extends FairContractTests {

	@ContractTest
	void permitsThatAreOfferedAreNotRefused(String store) {
		open(store, LockFeature.PERMITS).checkSupport(LockRequest.of("k").permits(2));
	}

	@ContractTest
	void noMoreHaveTheKeyThanThereArePermits(String store) {
		LockBackend backend = open(store, LockFeature.PERMITS);
		String key = key();
		List<Claim> holders = List.of(permit(key, "a", 3), permit(key, "a", 3), permit(key, "b", 3));
		holders.forEach((holder) -> assertEquals(AcquireResult.ACQUIRED, backend.acquire(holder)));
		assertEquals(List.of(true, true, true), backend.renew(holders.stream().map(Renewal::of).toList()));
		AcquireResult busy = backend.acquire(permit(key, "c", 3));
		assertFalse(busy.acquired(), "one more than there are permits");
		assertTrue(busy.holder() == null || names(holders).contains(busy.holder().name()), "told one of the holders");
		assertTrue(backend.release(key, holders.get(0).owner()), "owned");
		assertFalse(backend.release(key, holders.get(0).owner()), "owned still");
		assertTrue(backend.acquire(permit(key, "c", 3)).acquired());
		assertFalse(backend.acquire(permit(key, "c", 3)).acquired(), "one more than there are permits");
		assertEquals(List.of(false, true), backend.renew(holders.subList(0, 2).stream().map(Renewal::of).toList()));
	}

	@ContractTest
	void eachGoesByItsOwnNumber(String store) {
		LockBackend backend = open(store, LockFeature.PERMITS);
		String key = key();
		Claim first = permit(key, "a", 2);
		assertTrue(backend.acquire(first).acquired());
		Claim third = permit(key, "b", 4);
		assertTrue(backend.acquire(permit(key, "b", 4)).acquired());
		assertTrue(backend.acquire(third).acquired());
		assertFalse(backend.acquire(permit(key, "a", 2)).acquired(), "one of 2 as the fourth");
		assertFalse(backend.acquire(permit(key, "a", 3)).acquired(), "one of 3 as the fourth");
		backend.release(key, third.owner());
		assertFalse(backend.acquire(permit(key, "a", 2)).acquired(), "one of 2 as the third");
		assertTrue(backend.acquire(permit(key, "a", 3)).acquired());
	}

	@ContractTest
	void permitsAndExclusiveAndSharedClaimsExcludeEachOther(String store) {
		LockBackend backend = open(store, LockFeature.PERMITS, LockFeature.SHARED);
		String key = key();
		List<Function<String, Claim>> kinds = List.of((instance) -> permit(key, instance, 3),
				(instance) -> claim(key, instance), (instance) -> reader(key, instance));
		for (Function<String, Claim> kind : kinds) {
			Claim holder = kind.apply("a");
			assertTrue(backend.acquire(holder).acquired());
			kinds.stream()
				.filter((other) -> other != kind)
				.forEach((other) -> assertFalse(backend.acquire(other.apply("b")).acquired(), "beside another kind"));
			assertTrue(backend.release(key, holder.owner()));
		}
	}

	@ContractTest
	void allHoldersAreToldAndThoseThatWait(String store) {
		LockBackend backend = open(store, LockFeature.PERMITS);
		String key = key();
		assertAllAreTold(backend, List.of(permit(key, "a", 2), permit(key, "b", 2)), permit(key, "c", 2));
	}

	void assertAllAreTold(LockBackend backend, List<Claim> holders, Claim waiting) {
		listen(backend, waiting.instance());
		holders.forEach((holder) -> acquired(backend, holder));
		backend.acquireOrRegister(waiting);
		LockStatus status = backend.inspect(waiting.key());
		assertEquals(names(holders),
				status.holders().stream().map(LockStatus.Holder::owner).collect(Collectors.toSet()));
		Waiter kind = holders.get(0).waiter();
		for (LockStatus.Holder holder : status.holders()) {
			assertEquals(kind.isShared() ? LockMode.SHARED : LockMode.EXCLUSIVE, holder.mode());
			assertEquals(LockStatus.State.HELD, holder.state());
			assertEquals(!kind.isShared(), holder.permit(), () -> "a permit: " + holder);
			assertTrue(holder.remaining().compareTo(LONG.dividedBy(2)) > 0, () -> "left: " + holder);
		}
		assertEquals(List.of(waiting.waiter().describe()), status.waiters());
	}

	@ContractTest
	void asManyAreWokenAsThereArePermitsOldestFirst(String store) {
		LockBackend backend = open(store, LockFeature.PERMITS);
		String key = key();
		List<Ear> ears = Stream.of("b", "c", "d").map((instance) -> listen(backend, instance)).toList();
		Claim holder = held(backend, key, "a");
		List<Claim> waiting = Stream.of("b", "c", "d").map((instance) -> permit(key, instance, 2)).toList();
		waiting.forEach((claim) -> assertFalse(backend.acquireOrRegister(claim).acquired()));
		backend.release(key, holder.owner());
		ears.subList(0, 2).forEach((ear) -> ear.awaitWake(key));
		ears.get(0).assertWoken(List.of(Waiter.permits("b", 2)));
		assertFalse(backend.acquireOrRegister(waiting.get(2)).acquired(), "past those for whom it is kept");
		waiting.subList(0, 2).forEach((claim) -> acquired(backend, claim));
		ears.get(2).assertHeard(List.of());
		backend.release(key, waiting.get(1).owner());
		ears.get(2).awaitWake(key);
		acquired(backend, waiting.get(2));
	}

	@ContractTest
	void nobodyPassesAnOlderWaiter(String store) {
		LockBackend backend = open(store, LockFeature.PERMITS);
		String key = key();
		Stream.of("b", "c").forEach((instance) -> listen(backend, instance));
		List<Claim> holders = List.of(permit(key, "a", 3), permit(key, "a", 3));
		holders.forEach((holder) -> acquired(backend, holder));
		Claim alone = claim(key, "b");
		assertFalse(backend.acquireOrRegister(alone).acquired());
		Claim late = permit(key, "c", 3);
		assertFalse(backend.acquire(permit(key, "a", 3)).acquired(), "past one that wants the key alone");
		assertFalse(backend.acquireOrRegister(late).acquired(), "past one that wants the key alone");
		holders.forEach((holder) -> backend.release(key, holder.owner()));
		acquired(backend, alone);
		assertFalse(backend.acquireOrRegister(late).acquired());
		backend.release(key, alone.owner());
		acquired(backend, late);
	}

	@ContractTest
	void aSmallerNumberWaitsUntilFewEnoughAreLeftAndIsNotPassed(String store) {
		LockBackend backend = open(store, LockFeature.PERMITS);
		String key = key();
		Ear b = listen(backend, "b");
		List<Claim> holders = IntStream.range(0, 3).mapToObj((i) -> permit(key, "a", 5)).toList();
		holders.forEach((holder) -> acquired(backend, holder));
		Claim small = permit(key, "b", 2);
		assertFalse(backend.acquireOrRegister(small).acquired());
		backend.release(key, holders.get(0).owner());
		assertFalse(backend.acquireOrRegister(permit(key, "c", 5)).acquired(), "past a smaller number");
		b.assertHeard(List.of());
		backend.release(key, holders.get(1).owner());
		b.awaitWake(key);
		acquired(backend, small);
	}

	@ContractTest
	void whoGivesUpLetsThoseBehindIn(String store) {
		LockBackend backend = open(store, LockFeature.PERMITS);
		String key = key();
		List<Ear> ears = Stream.of("b", "c", "d").map((instance) -> listen(backend, instance)).toList();
		Claim holder = permit(key, "a", 3);
		acquired(backend, holder);
		Claim alone = claim(key, "b");
		List<Claim> behind = Stream.of("c", "d").map((instance) -> permit(key, instance, 2)).toList();
		backend.acquireOrRegister(alone);
		behind.forEach(backend::acquireOrRegister);
		backend.withdraw(key, alone.waiter(), Set.of());
		ears.get(1).awaitWake(key);
		ears.get(2).assertHeard(List.of());
		backend.withdraw(key, behind.get(0).waiter(), Set.of());
		ears.get(2).awaitWake(key);
		acquired(backend, behind.get(1));
	}

	@ContractTest
	void aReaderThatGivesUpLetsThoseBehindIn(String store) {
		LockBackend backend = open(store, LockFeature.PERMITS, LockFeature.SHARED);
		String key = key();
		listen(backend, "b");
		Ear c = listen(backend, "c");
		acquired(backend, permit(key, "a", 2));
		Claim reader = reader(key, "b");
		Claim behind = permit(key, "c", 2);
		assertFalse(backend.acquireOrRegister(reader).acquired());
		assertFalse(backend.acquireOrRegister(behind).acquired(), "past a reader");
		backend.withdraw(key, reader.waiter(), Set.of());
		c.awaitWake(key);
		acquired(backend, behind);
	}

	@ContractTest
	void aReaderThatGivesUpTheLastPlaceLeavesThatToTheOldest(String store) {
		LockBackend backend = open(store, LockFeature.PERMITS, LockFeature.SHARED, LockFeature.PLACES);
		String key = key();
		List<Ear> ears = Stream.of("b", "c", "d").map((instance) -> listen(backend, instance)).toList();
		Claim holder = held(backend, key, "a");
		Claim reader = reader(key, "b");
		Claim permit = permit(key, "c", 2);
		backend.acquireOrRegister(reader);
		backend.acquireOrRegister(permit);
		backend.acquireOrRegister(claim(key, "d"));
		backend.release(key, holder.owner());
		backend.withdraw(key, reader.waiter(), Set.of());
		ears.get(1).awaitWake(key);
		acquired(backend, permit);
		ears.get(2).assertHeard(List.of(), "past one that came before");
	}

	@ContractTest
	void oneThatDoesNotWaitTakesNoPlaceThatIsKeptForOneThatDoes(String store) {
		LockBackend backend = open(store, LockFeature.PERMITS, LockFeature.PLACES);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		Claim waiting = permit(key, "b", 2);
		assertFalse(backend.acquireOrRegister(waiting).acquired());
		backend.release(key, holder.owner());
		b.awaitWake(key);
		assertTrue(backend.acquire(permit(key, "b", 2)).acquired(), "beside the place that is kept");
		assertFalse(backend.acquire(permit(key, "b", 2)).acquired(), "in the place that is kept");
		acquired(backend, waiting);
	}

	@ContractTest
	void aDeadWaiterForAPermitIsInNobodysWay(String store) {
		LockBackend backend = open(store, LockFeature.PERMITS);
		String key = key();
		listen(backend, "b");
		Claim holder = permit(key, "a", 2);
		acquired(backend, holder);
		backend.acquireOrRegister(permit(key, "dead", 1));
		Claim late = permit(key, "b", 2);
		eventually("past a dead waiter", () -> backend.acquireOrRegister(late).acquired());
	}

	@ContractTest
	void eachPermitHasItsOwnLease(String store) {
		LockBackend backend = open(store, LockFeature.PERMITS);
		String key = key();
		Claim shortly = permit(key, "a", 2, SHORT);
		Claim lasting = permit(key, "b", 2, RENEWABLE);
		acquired(backend, shortly);
		acquired(backend, lasting);
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(lasting.lease(LONG)))));
		assertEquals(List.of(true), backend.renew(List.of(Renewal.of(lasting))), "never shortened");
		AcquireResult busy = backend.acquire(permit(key, "c", 2));
		assertTrue(busy.remaining() == null || busy.remaining().compareTo(RENEWABLE) < 0,
				"told when the first lease ends");
		Claim next = permit(key, "c", 2);
		eventually("past a lease that has ended", () -> backend.acquireOrRegister(next).acquired());
		assertFalse(backend.release(key, shortly.owner()), "owned");
		assertFalse(backend.acquire(permit(key, "c", 2)).acquired(), "past one that was renewed");
	}

	@ContractTest
	void aParkedPermitCountsUntilItsTimeIsOver(String store) {
		LockBackend backend = open(store, LockFeature.PERMITS);
		String key = key();
		Claim parked = permit(key, "a", 2);
		acquired(backend, parked);
		assertTrue(backend.leaveToExpire(key, parked.owner(), RENEWABLE), "owned");
		assertFalse(backend.leaveToExpire(key, parked.owner(), RENEWABLE), "owned still");
		assertEquals(List.of(false), backend.renew(List.of(Renewal.of(parked))), "revived");
		assertTrue(backend.acquire(permit(key, "b", 2)).acquired());
		assertFalse(backend.acquire(permit(key, "c", 2)).acquired(), "past a permit that rests");
		assertFalse(backend.release(key, parked.owner()), "released");
		eventually(() -> backend.acquire(permit(key, "c", 2)).acquired());
	}

	@ContractTest
	void noMoreAreThereAtATimeAndAllPermitsAreUsed(String store) {
		LockBackend backend = open(store, LockFeature.PERMITS);
		String key = key();
		AtomicInteger holders = new AtomicInteger();
		AtomicInteger most = new AtomicInteger();
		List<String> instances = List.of("a", "b", "c", "d");
		instances.forEach((instance) -> listen(backend, instance));
		inThreads(instances, (instance) -> {
			for (int i = 0; i < 50 || most.get() < 3; i++) {
				Claim claim = permit(key, instance, 3);
				eventually("a permit", () -> backend.acquireOrRegister(claim).acquired());
				most.accumulateAndGet(holders.incrementAndGet(), Math::max);
				Thread.yield();
				holders.decrementAndGet();
				backend.release(key, claim.owner());
			}
		});
		assertEquals(3, most.get());
	}

	private static Set<String> names(List<Claim> claims) {
		return claims.stream().map(Claim::owner).collect(Collectors.toSet());
	}

	private Claim permit(String key, String instance, int permits) {
		return permit(key, instance, permits, LONG);
	}

	private Claim permit(String key, String instance, int permits, Duration lease) {
		return claim(key, instance, lease).permits(permits);
	}

}
