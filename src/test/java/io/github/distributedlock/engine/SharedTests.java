package io.github.distributedlock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockUpgradeException;
import io.github.distributedlock.backend.Waiter;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Readers together, writers alone.
 */
class SharedTests extends EngineFixture {

	private static final Duration LONG = Duration.ofSeconds(20);

	private final LockEngine third = engine(this.store, "third");

	@Test
	void readersHoldTheLockTogether() {
		LockHandle one = this.engine.acquire(shared("k"));
		LockHandle two = inThread(() -> this.engine.acquire(shared("k"))).join();
		LockHandle other = inThread(() -> this.third.acquire(shared("k"))).join();
		assertThat(List.of(one, two, other)).allMatch(LockHandle::isHeld)
			.extracting(LockHandle::owner)
			.doesNotHaveDuplicates();
		assertThat(this.backend.steps()).containsExactly("acquire k", "acquire k");
	}

	@Test
	void writerIsAlone() {
		LockHandle reader = this.engine.acquire(shared("k"));
		assertThat(this.third.tryAcquire("k")).isEmpty();
		assertThat(inThread(() -> this.engine.tryAcquire("k").isPresent()).join()).isFalse();
		reader.close();
		LockHandle writer = this.third.acquire("k");
		assertThat(this.engine.tryAcquire(shared("k"))).isEmpty();
		writer.close();
		assertThat(this.engine.tryAcquire(shared("k"))).isPresent();
	}

	@Test
	void writerThatWaitsIsNotStarvedByReadersThatComeLater() {
		LockHandle first = this.engine.acquire(shared("k"));
		CompletableFuture<LockHandle> writer = inThread(() -> this.third.acquire(waiting("k", LONG)));
		untilWaiting(1);
		assertThat(inThread(() -> this.engine.tryAcquire(shared("k")).isPresent()).join()).isFalse();
		CompletableFuture<LockHandle> later = acquiring(shared("k").waitTime(LONG));
		assertThat(later).isNotDone();
		first.close();
		assertThat(writer).succeedsWithin(PATIENCE);
		assertThat(later).isNotDone();
		writer.join().close();
		assertThat(later).succeedsWithin(PATIENCE);
	}

	@Test
	void readersBehindAWriterThatGivesUpComeIn() {
		LockHandle first = this.third.acquire(shared("k"));
		CompletableFuture<LockHandle> writer = acquiring(waiting("k", Duration.ofSeconds(1)));
		CompletableFuture<LockHandle> reader = acquiring(shared("k").waitTime(LONG));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(writer).failsWithin(PATIENCE);
		assertThat(reader).succeedsWithin(PATIENCE);
		assertThat(first.isHeld()).isTrue();
	}

	@Test
	void allReadersThatWaitComeInTogether() {
		ownedElsewhere("k", LEASE);
		List<CompletableFuture<LockHandle>> readers = List.of(acquiring(shared("k").waitTime(LONG)),
				acquiring(shared("k").waitTime(LONG)), acquiring(shared("k").waitTime(LONG)));
		releasedElsewhere("k");
		assertThat(readers).allSatisfy((reader) -> assertThat(reader).succeedsWithin(PATIENCE));
		assertThat(readers).allMatch((reader) -> reader.join().isHeld());
	}

	@Test
	void readerOfAJvmThatDiedBlocksNobodyAfterItsLease() {
		this.store.acquire(HoldOptions.of(shared("k"), LEASE).claim("k", "dead#1:1", Waiter.exclusive("dead#1")));
		LockHandle reader = this.engine.acquire(shared("k"));
		CompletableFuture<LockHandle> writer = inThread(() -> this.third.acquire(waiting("k", Duration.ofMinutes(1))));
		untilWaiting(1);
		reader.close();
		assertThat(writer).isNotDone();
		this.time.advance(LEASE.plusMillis(500));
		assertThat(writer).succeedsWithin(PATIENCE);
	}

	@Test
	void minHoldTimeOfAReaderKeepsWritersOutAndReadersIn() {
		this.engine.acquire(shared("k").minHoldTime(Duration.ofSeconds(3))).close();
		assertThat(this.backend.steps()).containsExactly("acquire k", "expire k");
		assertThat(this.third.tryAcquire("k")).isEmpty();
		assertThat(this.third.tryAcquire(shared("k"))).isPresent().get().satisfies(LockHandle::close);
		this.time.advance(Duration.ofMillis(3100));
		assertThat(this.third.tryAcquire("k")).isPresent();
	}

	@Test
	void sharedReentersExclusiveAndShared() {
		for (LockMode mode : LockMode.values()) {
			this.backend.forgetSteps();
			LockHandle outer = this.engine.acquire(request("k").mode(mode));
			try (LockHandle inner = this.engine.acquire(shared("k"))) {
				assertThat(inner.owner()).isEqualTo(outer.owner());
				assertThat(this.third.tryAcquire("k")).isEmpty();
			}
			outer.close();
			assertThat(this.backend.steps()).containsExactly("acquire k", "release k");
		}
	}

	@Test
	void exclusiveInsideSharedWouldWaitForItself() {
		try (LockHandle outer = this.engine.acquire(shared("k"))) {
			assertThatExceptionOfType(LockUpgradeException.class).isThrownBy(() -> this.engine.tryAcquire("k"))
				.withMessageContainingAll("Lock 'k'", "EXCLUSIVE", "SHARED already")
				.satisfies((ex) -> assertThat(ex.remedy()).hasValueSatisfying(
						(remedy) -> assertThat(remedy).startsWith("request the outer lock as EXCLUSIVE")));
			assertThat(outer.isHeld()).isTrue();
		}
		assertThat(this.engine.tryAcquire("k")).isPresent();
	}

	@Test
	void exclusiveForSeveralKeysInsideSharedIsRefusedBeforeAnyIo() {
		ownedElsewhere("a", LEASE);
		try (LockHandle outer = this.engine.acquire(shared("k"))) {
			this.backend.forgetSteps();
			LockRequest several = LockRequest.of("a", "k", "z");
			assertThatExceptionOfType(LockUpgradeException.class).isThrownBy(() -> this.engine.acquire(several))
				.withMessageContainingAll("Lock 'k'", "SHARED already");
			assertThatExceptionOfType(LockUpgradeException.class).isThrownBy(() -> this.engine.tryAcquire(several));
			assertThat(this.backend.steps()).isEmpty();
			assertThat(events(LockEvent.NotAcquired.class)).isEmpty();
			assertThat(outer.isHeld()).isTrue();
		}
	}

	@Test
	void severalKeys() {
		LockRequest both = LockRequest.of("a", "b").mode(LockMode.SHARED);
		LockHandle one = this.engine.acquire(both);
		assertThat(inThread(() -> this.third.acquire(both)).join().keys()).containsExactly("a", "b");
		assertThat(this.third.tryAcquire("b")).isEmpty();
		one.close();
	}

	@Test
	void whatCannotGoTogetherIsRefusedBeforeAnyIo() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.engine.acquire(shared("k").fair(true)))
			.withMessageContainingAll("Lock [k]", "SHARED and fair", "Request it without fair");
		assertThatIllegalArgumentException().isThrownBy(() -> this.engine.acquire(shared("k").fenced(true)))
			.withMessageContainingAll("Lock [k]", "SHARED and fenced", "Request it without fenced");
		assertThat(this.backend.steps()).isEmpty();
	}

	@Test
	void whatTheStoreCannotDoIsRefusedBeforeAnyIo() {
		this.backend.exclusiveOnly();
		for (LockRequest request : List.of(shared("k"), request("k").fair(true), request("k").fenced(true),
				request("k").permits(2))) {
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.engine.acquire(request))
				.withMessageContaining("Lock [k] was requested as");
		}
		assertThat(this.backend.steps()).isEmpty();
		assertThat(this.engine.tryAcquire("k")).isPresent();
	}

	private static LockRequest shared(String key) {
		return LockRequest.of(key).mode(LockMode.SHARED);
	}

}
