package io.github.distributedlock.integration;

import java.time.Duration;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.EngineFixture;
import io.github.distributedlock.engine.LockEngine;
import org.junit.jupiter.api.Test;

import org.springframework.integration.support.locks.DistributedLock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link RenewableDistributedLockRegistry}. Not compiled with Spring
 * Integration 6, which has no such type.
 */
class RenewableDistributedLockRegistryTests extends EngineFixture {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private final RenewableDistributedLockRegistry registry = new RenewableDistributedLockRegistry(this.engine, LEASE);

	private final DistributedLock lock = this.registry.obtain("k");

	@Test
	void locksUntilUnlocked() {
		this.lock.lock();
		this.time.advance(LEASE.multipliedBy(3));
		assertThat(holderOf("k")).isNotNull();
		this.lock.unlock();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void locksForATimeToLive() throws InterruptedException {
		this.lock.lock(SECOND);
		this.time.advance(SECOND);
		assertThat(holderOf("k")).isNull();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(this.lock::unlock);
		assertThat(this.lock.tryLock(Duration.ZERO, SECOND)).isTrue();
		this.lock.unlock();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void isOneLockWhateverItsTimeToLive() throws InterruptedException {
		this.lock.lock();
		this.lock.lock(SECOND);
		assertThat(this.lock.tryLock(SECOND, SECOND)).isTrue();
		this.time.advance(MINUTE);
		this.lock.unlock();
		this.lock.unlock();
		assertThat(holderOf("k")).isNotNull();
		this.registry.obtain("k").unlock();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void isBusyForTheWaitTime() throws InterruptedException {
		ownedElsewhere("k", LEASE);
		assertThat(this.lock.tryLock(Duration.ZERO, SECOND)).isFalse();
	}

	@Test
	void renews() {
		this.lock.lock(SECOND);
		this.registry.renewLock("k");
		this.time.advance(LEASE.minus(SECOND));
		this.registry.renewLock("k", MINUTE);
		this.time.advance(MINUTE.minus(SECOND));
		assertThat(LockHandle.current().orElseThrow().isHeld()).isTrue();
		this.lock.unlock();
	}

	@Test
	void doesNotRenewWhatIsNotHeld() {
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(() -> this.registry.renewLock("k"))
			.withMessage("Lock 'k' is not held by this thread");
		this.lock.lock(SECOND);
		this.time.advance(SECOND);
		assertThatIllegalStateException().isThrownBy(() -> this.registry.renewLock("k"))
			.withMessage("Lock 'k' was lost");
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(this.lock::unlock);
	}

	@Test
	void renewsOnlyWhatItsEngineHolds() {
		LockEngine other = engine(new InMemoryLockBackend(this.time::nanoTime), "other store");
		LockHandle notAsked = other.acquire(request("k").leaseTime(SECOND));
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(() -> this.registry.renewLock("k"))
			.withMessage("Lock 'k' is not held by this thread");
		notAsked.close();
		this.lock.lock(SECOND);
		notAsked = other.acquire(request("k").leaseTime(SECOND));
		this.registry.renewLock("k", MINUTE);
		this.time.advance(SECOND);
		assertThat(holderOf("k")).isNotNull();
		assertThat(notAsked.isHeld()).isFalse();
		this.lock.unlock();
	}

	@Test
	void refusesATimeToLiveThatIsOutOfRange() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new RenewableDistributedLockRegistry(this.engine, Duration.ofMillis(99)))
			.withMessage("leaseTime 99 ms is out of range: at least 100 ms, at most 365 days;"
					+ " write 99s if seconds are meant");
		assertThatIllegalArgumentException().isThrownBy(() -> this.lock.lock(Duration.ZERO));
		assertThat(this.backend.steps()).isEmpty();
	}

	@Test
	void refusesWhatIsNoString() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.obtain(7));
		assertThatIllegalArgumentException().isThrownBy(() -> this.registry.renewLock(7));
	}

}
