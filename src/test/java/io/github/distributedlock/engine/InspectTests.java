package io.github.distributedlock.engine;

import io.github.distributedlock.fixtures.SmallestBackend;
import java.time.Duration;
import java.util.List;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockStatus;
import io.github.distributedlock.LockStatus.Holder;
import io.github.distributedlock.LockStatus.State;
import io.github.distributedlock.LockStatus.Waiter;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * {@code inspect} tells who has a key and who waits for it.
 */
class InspectTests extends EngineFixture {

	private static final Duration LONG = Duration.ofMinutes(10);

	private final LockEngine here = engine(this.store, "here");

	private final LockEngine there = engine(this.store, "there");

	@Test
	void freeKey() {
		LockStatus status = this.here.inspect("k");
		assertThat(status.key()).isEqualTo("k");
		assertThat(status.isFree()).isTrue();
		assertThat(status.heldHere()).isFalse();
		assertThat(status.waiters()).isEmpty();
		assertThat(status).hasToString("LockStatus[key=k, free, waiters=[]]");
	}

	@Test
	void heldHereOrThere() {
		LockHandle handle = this.here.acquire("k");
		this.time.advance(Duration.ofSeconds(1));
		LockStatus status = this.here.inspect("k");
		assertThat(status.isFree()).isFalse();
		assertThat(status.holders()).containsExactly(
				new Holder(handle.owner(), State.HELD, LockMode.EXCLUSIVE, LEASE.minus(Duration.ofSeconds(1))));
		assertThat(status.heldHere()).isTrue();
		assertThat(this.there.inspect("k").heldHere()).isFalse();
		assertThat(this.there.inspect("k").holders()).isEqualTo(status.holders());
	}

	@Test
	void readersShare() {
		LockRequest reading = LockRequest.of("k").mode(LockMode.SHARED);
		LockHandle one = this.here.acquire(reading);
		LockHandle other = this.there.acquire(reading);
		LockStatus status = this.here.inspect("k");
		assertThat(status.holders()).containsExactlyInAnyOrder(
				new Holder(one.owner(), State.HELD, LockMode.SHARED, LEASE),
				new Holder(other.owner(), State.HELD, LockMode.SHARED, LEASE));
		assertThat(status.heldHere()).isTrue();
	}

	@Test
	void waitersInTheirOrder() {
		ownedElsewhere("k", LEASE);
		inThread(() -> this.here.acquire(waiting("k", LONG)));
		untilWaiting(1);
		inThread(() -> this.there.acquire(waiting("k", LONG).fair(true)));
		untilWaiting(2);
		List<Waiter> waiters = this.here.inspect("k").waiters();
		assertThat(waiters).extracting(Waiter::instance)
			.satisfiesExactly((first) -> assertThat(first).startsWith("here@"),
					(second) -> assertThat(second).startsWith("there@"));
		assertThat(waiters.get(0).ticket()).isNull();
		assertThat(waiters.get(1).ticket()).startsWith(waiters.get(1).instance() + ":");
	}

	@Test
	void leftToExpire() {
		LockHandle handle = this.here.acquire(LockRequest.of("k").minHoldTime(Duration.ofSeconds(5)));
		handle.close();
		LockStatus status = this.here.inspect("k");
		assertThat(status.holders()).singleElement().satisfies((holder) -> {
			assertThat(holder.owner()).isEqualTo(handle.owner());
			assertThat(holder.state()).isEqualTo(State.EXPIRING);
		});
		assertThat(status.heldHere()).as("given back").isFalse();
		this.time.advance(Duration.ofSeconds(6));
		Awaitility.await("the key is free").until(() -> this.here.inspect("k").isFree());
	}

	@Test
	void storeThatCannotBeAsked() {
		assertThatExceptionOfType(UnsupportedOperationException.class)
			.isThrownBy(() -> LockEngine.builder(new SmallestBackend()).build().inspect("k"))
			.withMessageContaining(SmallestBackend.class.getName());
	}

	@Test
	void keyThatIsRefusedBeforeAnyIo() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.here.inspect(" "));
		assertThatIllegalArgumentException().isThrownBy(() -> this.here.inspect("k".repeat(1025)));
	}

}
