package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

import io.github.distributedlock.EngineSnapshot;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockUpgradeException;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.fixtures.SmallestBackend;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A thread that writes, reads as well, and goes on as a reader.
 */
class DowngradeTests extends EngineFixture {

	private static final Duration LONG = Duration.ofSeconds(20);

	private final LockEngine third = engine(this.store, "third");

	@Test
	void readersComeInWhenTheWriterGoesOnAsOne() {
		LockHandle writer = this.engine.acquire("k");
		LockHandle reader = this.engine.acquire(shared("k"));
		CompletableFuture<LockHandle> other = inThread(() -> this.third.acquire(shared("k").waitTime(LONG)));
		untilWaiting(1);
		assertThat(writer.release()).isTrue();
		assertThat(other).succeedsWithin(PATIENCE);
		assertThat(reader.isHeld()).isTrue();
		assertThat(this.third.tryAcquire("k")).as("written").isEmpty();
		assertThat(this.engine.snapshot().holds()).extracting(EngineSnapshot.Hold::mode)
			.containsExactly(LockMode.SHARED);
		this.time.advance(LEASE.multipliedBy(3));
		assertThat(reader.isHeld()).as("renewed").isTrue();
		this.backend.steps().removeIf((step) -> step.startsWith("renew"));
		assertThat(reader.release()).isTrue();
		other.join().close();
		assertThat(this.backend.steps()).containsExactly("acquire k", "downgrade k", "release k");
		assertThat(this.third.tryAcquire("k")).isPresent();
	}

	@Test
	void renewalsAndExtensionsAreAskedForInTheModeOfTheHold() {
		List<LockMode> asked = new CopyOnWriteArrayList<>();
		this.backend.onRenew((claim) -> asked.add(claim.mode()));
		LockHandle writer = this.engine.acquire("k");
		this.engine.acquire(shared("k"));
		this.time.advance(LEASE.dividedBy(2));
		writer.close();
		this.time.advance(LEASE.dividedBy(2));
		assertThat(asked).startsWith(LockMode.EXCLUSIVE).endsWith(LockMode.SHARED);
		asked.clear();
		this.engine.acquire(shared("read")).extend(LEASE.multipliedBy(2));
		assertThat(asked).containsExactly(LockMode.SHARED);
	}

	@Test
	void staysExclusiveUntilTheLastExclusiveHandleIsClosed() {
		LockHandle writer = this.engine.acquire("k");
		LockHandle reader = this.engine.acquire(shared("k"));
		LockHandle again = this.engine.acquire("k");
		writer.close();
		assertThat(this.third.tryAcquire(shared("k"))).isEmpty();
		again.close();
		assertThat(this.third.tryAcquire(shared("k"))).isPresent();
		assertThat(reader.isHeld()).isTrue();
	}

	@Test
	void writerOfTheSameJvmWaitsForAllReaders() {
		LockHandle writer = this.engine.acquire("k");
		LockHandle reader = this.engine.acquire(shared("k"));
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG));
		writer.close();
		LockHandle other = this.third.acquire(shared("k"));
		reader.close();
		Awaitility.await("the writer's place in the store").until(() -> this.store.inspect("k").waiters().size() == 1);
		assertThat(inThread(() -> this.third.tryAcquire(shared("k"))).join()).as("past the writer").isEmpty();
		assertThat(next).isNotDone();
		other.close();
		assertThat(next).succeedsWithin(PATIENCE);
		assertThat(this.third.tryAcquire(shared("k"))).as("read while the writer has the lock").isEmpty();
	}

	@Test
	void readerIsNotHandedOnAsAWriter() {
		LockHandle writer = this.engine.acquire("k");
		LockHandle reader = this.engine.acquire(shared("k"));
		CompletableFuture<LockHandle> next = acquiring(waiting("k", LONG));
		writer.close();
		reader.close();
		assertThat(succeeded(next).owner()).isNotEqualTo(writer.owner());
	}

	@Test
	void readerDoesNotWriteAgain() {
		LockHandle writer = this.engine.acquire("k");
		LockHandle reader = this.engine.acquire(shared("k"));
		writer.close();
		assertThatExceptionOfType(LockUpgradeException.class).isThrownBy(() -> this.engine.tryAcquire("k"));
		assertThat(reader.isHeld()).isTrue();
	}

	@ParameterizedTest
	@MethodSource
	void storeThatFailsIsNoHarm(ScriptedBackend.Fault fault, boolean letsIn) {
		LockHandle writer = this.engine.acquire("k");
		LockHandle reader = this.engine.acquire(shared("k"));
		this.backend.next("downgrade", fault);
		assertThat(writer.release()).isTrue();
		assertThat(this.third.tryAcquire(shared("k")).map(LockHandle::release).isPresent()).isEqualTo(letsIn);
		assertThatExceptionOfType(LockUpgradeException.class).as("what it may not have alone")
			.isThrownBy(() -> this.engine.tryAcquire("k"));
		assertThat(reader.release()).isTrue();
		assertThat(this.third.tryAcquire("k")).isPresent();
	}

	static Stream<Object[]> storeThatFailsIsNoHarm() {
		return Stream.of(new Object[] { ScriptedBackend.LOST_REQUEST, false },
				new Object[] { ScriptedBackend.LOST_REPLY, true }, new Object[] { ScriptedBackend.REFUSED, false });
	}

	@Test
	void lossIsNoticed() {
		LockHandle writer = this.engine.acquire("k");
		LockHandle reader = this.engine.acquire(shared("k"));
		assertThat(this.store.release("k", writer.owner())).isTrue();
		assertThat(writer.release()).isFalse();
		assertThat(reader.isHeld()).isFalse();
		assertThat(events(LockEvent.Lost.class)).extracting(LockEvent.Lost::reason).containsExactly(Reason.TAKEN);
	}

	/** Otherwise the others would stay exclusive in the store. */
	@Test
	void errorAtOneKeyLeavesOutNoOther() {
		LockHandle writer = this.engine.acquire(LockRequest.of("a", "b"));
		this.engine.acquire(LockRequest.of("a", "b").mode(LockMode.SHARED));
		this.backend.next("downgrade", (step) -> {
			throw new StackOverflowError("of the test");
		});
		assertThatExceptionOfType(StackOverflowError.class).isThrownBy(writer::close);
		assertThat(this.backend.steps()).contains("downgrade a", "downgrade b");
	}

	@Test
	void minHoldTimeKeepsReadersOut() {
		LockHandle writer = this.engine.acquire(request("k").minHoldTime(Duration.ofSeconds(3)));
		LockHandle reader = this.engine.acquire(shared("k"));
		writer.close();
		assertThat(this.third.tryAcquire(shared("k"))).isEmpty();
		reader.close();
		assertThat(this.third.tryAcquire(shared("k"))).isEmpty();
		assertThat(this.backend.steps()).containsExactly("acquire k", "expire k");
	}

	/** The reader asked for the minimum time, and for a lock that others may share. */
	@Test
	void minHoldTimeOfTheReaderKeepsOnlyWritersOut() {
		LockHandle writer = this.engine.acquire("k");
		LockHandle reader = this.engine.acquire(shared("k").minHoldTime(Duration.ofSeconds(3)));
		writer.close();
		this.third.acquire(shared("k")).close();
		reader.close();
		assertThat(this.third.tryAcquire("k")).isEmpty();
		this.third.acquire(shared("k")).close();
	}

	@Test
	void interruptWaits() {
		LockHandle writer = this.engine.acquire("k");
		this.engine.acquire(shared("k"));
		this.backend.before("downgrade", () -> assertThat(Thread.currentThread().isInterrupted()).isFalse());
		Thread.currentThread().interrupt();
		writer.close();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.third.tryAcquire(shared("k"))).isPresent();
	}

	@Test
	void closeAsyncLetsReadersIn() {
		LockHandle writer = this.engine.acquire("k");
		LockHandle reader = this.engine.acquire(shared("k"));
		assertThat(writer.closeAsync()).succeedsWithin(PATIENCE);
		Awaitility.await("the store is told").until(() -> this.backend.steps().contains("downgrade k"));
		assertThat(this.third.tryAcquire(shared("k"))).isPresent();
		assertThat(reader.isHeld()).isTrue();
	}

	@Test
	void eachOfSeveralKeysGoesItsOwnWay() {
		LockHandle writer = this.engine.acquire(LockRequest.of("a", "b"));
		LockHandle reader = this.engine.acquire(shared("a"));
		assertThat(writer.release()).isTrue();
		assertThat(this.third.tryAcquire("b")).isPresent();
		assertThat(this.third.tryAcquire("a")).isEmpty();
		assertThat(this.third.tryAcquire(shared("a"))).isPresent();
		assertThat(reader.release()).isTrue();
	}

	@Test
	void storeThatCannotStaysExclusive() {
		LockBackend without = new SmallestBackend(this.store) {

			@Override
			public Set<LockFeature> features() {
				return Set.of(LockFeature.SHARED);
			}

		};
		LockEngine engine = engine(without, "without");
		LockHandle writer = engine.acquire("k");
		LockHandle reader = engine.acquire(shared("k"));
		assertThat(writer.release()).isTrue();
		assertThat(this.third.tryAcquire(shared("k"))).isEmpty();
		assertThat(reader.release()).isTrue();
		assertThat(this.third.tryAcquire(shared("k"))).isPresent();
	}

	private static LockRequest shared(String key) {
		return request(key).mode(LockMode.SHARED);
	}

}
