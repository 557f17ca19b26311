package io.github.distributedlock.concurrent;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockUpgradeException;
import io.github.distributedlock.engine.EngineFixture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What no lock of the JDK does, since none of them is lost, fails, or is one lock in
 * several objects.
 */
class JdkLocksTests extends EngineFixture {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private final JdkLocks locks = new JdkLocks(this.engine);

	@Test
	void isWhatTheKeySays() {
		Lock lock = this.locks.lock("k");
		lock.lock();
		assertThat(holderOf("k")).isNotNull();
		assertThat(LockHandle.current().orElseThrow().keys()).containsExactly("k");
		lock.unlock();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void isWhatTheRequestSays() {
		Lock lock = this.locks.lock(LockRequest.of("k").fenced(true));
		lock.lock();
		assertThat(LockHandle.current().orElseThrow().fencingToken()).isPresent();
		lock.unlock();
	}

	@Test
	void isOneLockInSeveralObjects() {
		this.locks.lock("k").lock();
		assertThat(this.locks.lock("k").tryLock()).isTrue();
		this.locks.lock("k").unlock();
		assertThat(holderOf("k")).isNotNull();
		this.locks.lock("k").unlock();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void doesNotUnlockWhatWasAcquiredOtherwise() {
		try (LockHandle handle = this.engine.acquire("k")) {
			Lock lock = this.locks.lock("k");
			assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock)
				.withMessage("Lock [k] (EXCLUSIVE) is not held by this thread."
						+ " Only the thread that locked it may unlock it");
			lock.lock();
			lock.unlock();
			assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
			assertThat(handle.isHeld()).isTrue();
		}
	}

	@ParameterizedTest
	@MethodSource("modes")
	void unlockSaysThatTheLockWasLost(UnaryOperator<LockRequest> mode) {
		Lock lock = this.locks.lock(mode.apply(LockRequest.of("k").leaseTime(SECOND)));
		lock.lock();
		lock.lock();
		this.time.advance(SECOND);
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock)
				.havingCause()
				.isInstanceOfSatisfying(LockLostException.class, (loss) -> {
					assertThat(loss.reason()).isEqualTo(Reason.LEASE_EXPIRED);
					assertThat(loss.keys()).containsExactly("k");
				});
		}
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock).withNoCause();
		assertThat(lock.tryLock()).as("a new one").isTrue();
		lock.unlock();
	}

	@Test
	void unlockSaysThatTheStoreHasTakenTheLockAway() {
		Lock lock = this.locks.lock("k");
		lock.lock();
		assertThat(this.store.release("k", LockHandle.current().orElseThrow().owner())).isTrue();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock)
			.havingCause()
			.isInstanceOfSatisfying(LockLostException.class,
					(loss) -> assertThat(loss.reason()).isEqualTo(Reason.TAKEN));
	}

	@Test
	void unlockSaysThatAnotherHasClosedTheHandle() {
		Lock lock = this.locks.lock("k");
		lock.lock();
		LockHandle.current().orElseThrow().close();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
		assertThat(lock.tryLock()).as("a new one").isTrue();
		lock.unlock();
	}

	/**
	 * Else code in a lost lock would go on as if it had the lock.
	 */
	@Test
	void lostLockIsNotReentered() {
		Lock lock = this.locks.lock(LockRequest.of("k").leaseTime(SECOND));
		lock.lock();
		this.time.advance(SECOND);
		List<ThrowingCallable> waysIn = List.of(lock::lock, lock::lockInterruptibly, lock::tryLock,
				() -> lock.tryLock(1, TimeUnit.SECONDS));
		assertThat(waysIn).allSatisfy((wayIn) -> assertThatExceptionOfType(LockLostException.class).isThrownBy(wayIn));
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void readerThatWantsToWriteIsRefused() {
		ReadWriteLock both = this.locks.readWriteLock("k");
		both.readLock().lock();
		assertThatExceptionOfType(LockUpgradeException.class).isThrownBy(both.writeLock()::lock);
		assertThatExceptionOfType(LockUpgradeException.class).isThrownBy(both.writeLock()::lockInterruptibly);
		both.readLock().unlock();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void writersOfAFairLockAreFairAndItsReadersAreNot() {
		ReadWriteLock both = this.locks.readWriteLock(LockRequest.of("k").fair(true).fenced(true));
		both.readLock().lock();
		both.readLock().unlock();
		both.writeLock().lock();
		assertThat(LockHandle.current().orElseThrow().fencingToken()).isPresent();
		both.writeLock().unlock();
	}

	@ParameterizedTest
	@MethodSource("modes")
	void hasNoConditions(UnaryOperator<LockRequest> mode) {
		Lock lock = this.locks.lock(mode.apply(LockRequest.of("k")));
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(lock::newCondition);
	}

	@Test
	void isNotHeldIfTheStoreFails() {
		Lock lock = this.locks.lock("k");
		for (ThrowingCallable wayIn : List.<ThrowingCallable>of(lock::tryLock,
				() -> lock.tryLock(0, TimeUnit.SECONDS))) {
			this.backend.next("acquire", (step) -> {
				throw LockBackendException.of("down").notCarriedOut(true).build();
			});
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(wayIn);
			assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
		}
	}

	@Test
	void refusesWhatItsMethodsSay() {
		LockRequest request = LockRequest.of("k");
		assertThatIllegalArgumentException().isThrownBy(() -> this.locks.lock(request.waitTime(SECOND)))
			.withMessage("Lock [k] was requested with a waitTime, but lock() waits as long as it takes."
					+ " Use tryLock(time, unit)");
		assertThatIllegalArgumentException().isThrownBy(() -> this.locks.readWriteLock(request.detached(true)))
			.withMessage("Lock [k] was requested as detached, but such a lock is of the thread that locks it."
					+ " Use a LockHandle");
	}

	static Stream<UnaryOperator<LockRequest>> modes() {
		return Stream.of(UnaryOperator.identity(), (request) -> request.mode(LockMode.SHARED));
	}

}
