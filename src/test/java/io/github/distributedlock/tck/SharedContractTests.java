package io.github.distributedlock.tck;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import io.github.distributedlock.LockMode;
import io.github.distributedlock.backend.Attempt;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.fixtures.Patience;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

/**
 * What a {@link LockBackend} has to do that accepts more than
 * {@linkplain LockBackend#require the least}: the inherited tests are about the order of
 * those who wait, these about readers.
 */
public abstract class SharedContractTests extends FairContractTests {

	@ContractTest
	void whatIsAcceptedIsSaid(String store) {
		LockBackend backend = open(store);
		assertThatCode(() -> backend.require("k", LockMode.SHARED, false)).doesNotThrowAnyException();
		assertThatCode(() -> backend.require("k", LockMode.EXCLUSIVE, true)).doesNotThrowAnyException();
	}

	@ContractTest
	void readersHaveTheKeyTogetherAndWritersAlone(String store) {
		LockBackend backend = open(store);
		String key = key();
		List<Claim> readers = List.of(reader(key, "a"), reader(key, "a"), reader(key, "b"));
		readers.forEach((reader) -> assertThat(backend.acquire(reader)).isEqualTo(Attempt.ACQUIRED));
		assertThat(backend.renew(readers)).containsExactly(true, true, true);
		Claim writer = claim(key, "c");
		for (Claim reader : readers) {
			Attempt attempt = backend.acquire(writer);
			assertThat(attempt.acquired()).as("while it is read").isFalse();
			assertThat(attempt.holder()).as("holder, where the store says so").isIn(null, reader.owner());
			assertThat(backend.release(key, reader.owner())).isTrue();
			assertThat(backend.release(key, reader.owner())).as("owned still").isFalse();
		}
		assertThat(backend.acquire(writer).acquired()).as("free").isTrue();
		assertThat(backend.acquire(reader(key, "a")).acquired()).as("while it is written").isFalse();
		assertThat(backend.renew(List.of(readers.get(0), writer))).containsExactly(false, true);
		assertThat(backend.release(key, readers.get(0).owner())).as("owned").isFalse();
		assertThat(backend.release(key, writer.owner())).isTrue();
		assertThat(backend.acquireOrRegister(reader(key, "a")).acquired()).isTrue();
	}

	@ContractTest
	void severalKeysAreSharedAndGivenBackInOneStepWhereThatIsPossible(String store) {
		LockBackend backend = open(store);
		List<String> keys = List.of(key(), key());
		Ear c = listen(backend, "c");
		List<Claim> readers = keys.stream()
			.map((key) -> new Claim(key, "a:1", "a", LONG, false, LockMode.SHARED, false))
			.toList();
		readers.forEach((reader) -> acquired(backend, reader));
		Claim stays = reader(keys.get(1), "b");
		acquired(backend, stays);
		List<Claim> writers = keys.stream().map((key) -> claim(key, "c")).toList();
		writers.forEach((writer) -> assertThat(backend.acquireOrRegister(writer).acquired()).isFalse());
		List<Boolean> owned = backend.isOneStep(keys) ? backend.releaseAll(keys, "a:1")
				: keys.stream().map((key) -> backend.release(key, "a:1")).toList();
		assertThat(owned).containsExactly(true, true);
		c.awaitWake(keys.get(0));
		acquired(backend, writers.get(0));
		assertThat(backend.acquireOrRegister(writers.get(1)).acquired()).as("while it is read").isFalse();
		backend.release(keys.get(1), stays.owner());
		acquired(backend, writers.get(1));
	}

	@ContractTest
	void aWaitingWriterComesBeforeReadersThatCameLater(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		Ear c = listen(backend, "c");
		Claim first = reader(key, "a");
		Claim writer = claim(key, "b");
		Claim late = reader(key, "c");
		backend.acquire(first);
		assertThat(backend.acquireOrRegister(writer).acquired()).isFalse();
		assertThat(backend.acquire(reader(key, "a")).acquired()).as("past the writer").isFalse();
		assertThat(backend.acquireOrRegister(late).acquired()).as("past the writer").isFalse();
		backend.release(key, first.owner());
		assertThat(backend.acquireOrRegister(late).acquired()).as("what is reserved for the writer").isFalse();
		b.awaitWake(key);
		assertThat(b.waiters()).containsExactly("b");
		acquired(backend, writer);
		assertThat(c.heard()).isEmpty();
		backend.release(key, writer.owner());
		c.awaitWake(key);
		assertThat(c.waiters()).containsExactly(Claim.SHARED + "c");
		acquired(backend, late);
	}

	@ContractTest
	void allReadersThatAreNextComeInTogether(String store) {
		LockBackend backend = open(store);
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
		assertThat(backend.acquire(writer).acquired()).as("what is reserved for readers").isFalse();
		readers.forEach((reader) -> acquired(backend, reader));
		assertThat(backend.acquireOrRegister(late).acquired()).as("past the writer").isFalse();
		assertThat(ears.subList(2, 4)).allSatisfy((ear) -> assertThat(ear.heard()).isEmpty());
		readers.forEach((reader) -> backend.release(key, reader.owner()));
		ears.get(2).awaitWake(key);
		acquired(backend, writer);
	}

	@ContractTest
	void aReservationIsForAllReadersOfTheInstanceUntilOneOfThemGoes(String store) {
		LockBackend backend = open(store);
		String key = key();
		listen(backend, "b");
		listen(backend, "c");
		Claim holder = held(backend, key, "a");
		Claim first = reader(key, "b");
		Claim second = reader(key, "b");
		backend.acquireOrRegister(first);
		backend.acquireOrRegister(claim(key, "c"));
		backend.release(key, holder.owner());
		assertThat(backend.acquireOrRegister(first).acquired()).isTrue();
		assertThat(backend.acquireOrRegister(second).acquired()).isTrue();
		backend.release(key, first.owner());
		assertThat(backend.acquireOrRegister(reader(key, "b")).acquired()).as("past the writer").isFalse();
		assertThat(backend.renew(List.of(second))).containsExactly(true);
	}

	@ContractTest
	void eachReaderHasItsOwnLease(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim shortly = reader(key, "a", SHORT);
		Claim long1 = reader(key, "b");
		backend.acquire(shortly);
		backend.acquire(long1);
		await().until(() -> !backend.renew(List.of(reader(shortly, Duration.ofMillis(1)))).get(0));
		assertThat(backend.release(key, shortly.owner())).as("owned").isFalse();
		assertThat(backend.renew(List.of(long1))).containsExactly(true);
		assertThat(backend.acquire(claim(key, "c")).acquired()).as("free").isFalse();
		Claim last = reader(key, "a", SHORT);
		assertThat(backend.acquire(last).acquired()).isTrue();
		backend.release(key, long1.owner());
		// Not as long as the longest has been.
		await().until(() -> backend.acquire(claim(key, "c")).acquired());
	}

	@ContractTest
	void aReaderIsRenewedAndNeverShortened(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim reader = reader(key, "a", RENEWABLE);
		backend.acquire(reader);
		assertThat(backend.renew(List.of(reader(reader, LONG)))).containsExactly(true);
		assertThat(backend.renew(List.of(reader))).containsExactly(true);
		assertThat(backend.acquireOrRegister(reader).acquired()).as("its own").isTrue();
		staysOwned(backend, reader);
	}

	@ContractTest
	void aDeadReaderIsInNobodysWay(String store) {
		LockBackend backend = open(store);
		String key = key();
		listen(backend, "b");
		backend.acquire(reader(key, "a", SHORT));
		Claim writer = claim(key, "b");
		assertThat(backend.acquireOrRegister(writer).acquired()).isFalse();
		await().until(() -> backend.acquireOrRegister(writer).acquired());
	}

	@ContractTest
	void aDeadWriterThatWaitsIsInNobodysWay(String store) {
		LockBackend backend = open(store);
		String key = key();
		listen(backend, "b");
		backend.acquire(reader(key, "a"));
		backend.acquireOrRegister(claim(key, "dead"));
		Claim late = reader(key, "b");
		await("past a dead writer, though the reader lasts").until(() -> backend.acquireOrRegister(late).acquired());
	}

	@ContractTest
	void aWriterThatGivesUpLetsReadersIn(String store) {
		LockBackend backend = open(store);
		String key = key();
		listen(backend, "b");
		Ear c = listen(backend, "c");
		backend.acquire(reader(key, "a"));
		Claim writer = claim(key, "b");
		Claim late = reader(key, "c");
		backend.acquireOrRegister(writer);
		backend.acquireOrRegister(late);
		backend.withdraw(key, writer.waiter());
		c.awaitWake(key);
		acquired(backend, late);
	}

	@ContractTest
	void aReaderThatGivesUpPassesItsWakeUpOn(String store) {
		LockBackend backend = open(store);
		String key = key();
		listen(backend, "b");
		Ear c = listen(backend, "c");
		Claim holder = held(backend, key, "a");
		Claim reader = reader(key, "b");
		Claim writer = claim(key, "c");
		backend.acquireOrRegister(reader);
		backend.acquireOrRegister(writer);
		backend.release(key, holder.owner());
		assertThat(c.heard()).isEmpty();
		backend.withdraw(key, reader.waiter());
		c.awaitWake(key);
		acquired(backend, writer);
	}

	@ContractTest
	void whoYieldsLetsReadersIn(String store) {
		LockBackend backend = open(store);
		String key = key();
		Ear b = listen(backend, "b");
		Claim holder = held(backend, key, "a");
		Claim reader = reader(key, "b");
		backend.acquireOrRegister(reader);
		assertThat(backend.pass(holder.owner(), claim(key, "a"), true).next().acquired()).isFalse();
		b.awaitWake(key);
		acquired(backend, reader);
	}

	@ContractTest
	void aParkedReaderKeepsWritersOutAndLetsReadersIn(String store) {
		LockBackend backend = open(store);
		String key = key();
		Claim parked = reader(key, "a");
		backend.acquire(parked);
		assertThat(backend.park(key, parked.owner(), RENEWABLE)).as("owned").isTrue();
		assertThat(backend.park(key, parked.owner(), RENEWABLE)).as("owned still").isFalse();
		assertThat(backend.renew(List.of(parked))).as("revived").containsExactly(false);
		Claim reader = reader(key, "b");
		assertThat(backend.acquire(reader).acquired()).as("read").isTrue();
		backend.release(key, reader.owner());
		assertThat(backend.acquire(claim(key, "c")).acquired()).as("written").isFalse();
		assertThat(backend.release(key, parked.owner())).as("released").isFalse();
		await().until(() -> backend.acquire(claim(key, "c")).acquired());
	}

	@ContractTest
	void aReaderGetsAFencingToken(String store) {
		LockBackend backend = open(store);
		String key = key();
		long last = 0;
		for (int i = 0; i < 3; i++) {
			Claim claim = new Claim(key, claim(key, "a").owner(), "a", LONG, true, LockMode.SHARED, false);
			long token = backend.acquire(claim).fencingToken().orElseThrow();
			assertThat(token).isGreaterThan(last);
			last = token;
		}
	}

	@ContractTest
	void noReaderIsEverThereWithAWriter(String store) throws Exception {
		LockBackend backend = open(store);
		String key = key();
		AtomicInteger readers = new AtomicInteger();
		AtomicInteger writers = new AtomicInteger();
		AtomicInteger rounds = new AtomicInteger();
		List<String> wrong = Collections.synchronizedList(new ArrayList<>());
		List<Thread> threads = Stream.of("a", "b", "c", "d").map((instance) -> {
			listen(backend, instance);
			boolean writes = instance.equals("a");
			return new Thread(() -> {
				for (int i = 0; i < 50; i++) {
					Claim claim = writes ? (i % 2 == 0) ? claim(key, instance) : fair(key, instance)
							: reader(key, instance);
					await().pollDelay(Duration.ZERO)
						.pollInterval(Duration.ofMillis(1))
						.until(() -> backend.acquireOrRegister(claim).acquired());
					(writes ? writers : readers).incrementAndGet();
					if (writers.get() > 1 || (writers.get() == 1 && readers.get() > 0)) {
						wrong.add(instance);
					}
					(writes ? writers : readers).decrementAndGet();
					rounds.incrementAndGet();
					backend.release(key, claim.owner());
				}
			});
		}).toList();
		threads.forEach(Thread::start);
		threads.forEach(Patience::join);
		assertThat(wrong).as("who was not to be there").isEmpty();
		assertThat(rounds).hasValue(200);
	}

	private static Claim reader(Claim reader, Duration lease) {
		return new Claim(reader.key(), reader.owner(), reader.instance(), lease, false, LockMode.SHARED, false);
	}

}
