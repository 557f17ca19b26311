package io.github.distributedlock.concurrent;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.ForwardingDistributedLock;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockEvent.Lost.Reason;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockLostException;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.LockUpgradeException;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.engine.EngineFixture;
import io.github.distributedlock.engine.ScriptedBackend;
import io.github.distributedlock.fixtures.StubHandle;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Behaviour that no lock of the JDK has, because none of them is lost, fails, or is one
 * lock in several objects.
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
	void lockWhoseHandleWasClosedIsNotHeld() {
		Lock lock = this.locks.lock("k");
		lock.lock();
		lock.lock();
		LockHandle.current().orElseThrow().close();
		assertThatIllegalStateException().isThrownBy(lock::lock).withMessage("The handle of lock [k] is closed");
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock)
				.withMessage("The handle of lock [k] is closed");
		}
		assertThat(lock.tryLock()).as("a new one").isTrue();
		lock.unlock();
	}

	@Test
	void permitIsNotReenteredAsAnExclusiveLock() {
		Lock permit = this.locks.lock(LockRequest.of("k").permits(2));
		Lock exclusive = this.locks.lock("k");
		permit.lock();
		assertThat(exclusive.tryLock()).as("others may have the other permit").isFalse();
		assertThatExceptionOfType(LockUpgradeException.class).isThrownBy(exclusive::lock);
		assertThat(this.locks.lock(LockRequest.of("k").permits(3)).tryLock()).as("nobody is kept out").isTrue();
		this.locks.lock(LockRequest.of("k").permits(3)).unlock();
		permit.unlock();
		assertThat(holderOf("k")).isNull();
		exclusive.lock();
		assertThat(permit.tryLock()).as("more than is asked for").isTrue();
		permit.unlock();
		exclusive.unlock();
		assertThat(holderOf("k")).isNull();
	}

	@Test
	void unlockThatFailsUnlocks() {
		Lock lock = new JdkLocks(new FailingRelease(this.engine)).lock("k");
		lock.lock();
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(lock::unlock);
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock).withNoCause();
		assertThat(lock.tryLock()).as("a new one").isTrue();
	}

	/**
	 * Otherwise code in a lost lock would go on as if the lock were held.
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

	/**
	 * Otherwise unlocking the lost lock would throw, and the new one would be held for
	 * ever.
	 */
	@ParameterizedTest
	@EnumSource
	void lostLockIsNotReplacedByTheOther(LockMode lost) {
		ReadWriteLock both = this.locks.readWriteLock(LockRequest.of("k").leaseTime(SECOND));
		Lock first = (lost == LockMode.SHARED) ? both.readLock() : both.writeLock();
		Lock second = (lost == LockMode.SHARED) ? both.writeLock() : both.readLock();
		first.lock();
		this.time.advance(SECOND);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(second::lock);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(second::tryLock);
		assertThat(holderOf("k")).isNull();
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(first::unlock);
		assertThat(second.tryLock()).isTrue();
		second.unlock();
	}

	/**
	 * The form of a downgrade that the page about these locks asks for.
	 */
	@Test
	void downgradeOfALostLockLeavesNothing() {
		ReadWriteLock both = this.locks.readWriteLock(LockRequest.of("k").leaseTime(SECOND));
		both.writeLock().lock();
		both.readLock().lock();
		this.time.advance(SECOND);
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(() -> {
			try {
				both.writeLock().unlock();
			}
			finally {
				both.readLock().unlock();
			}
		}).withCauseInstanceOf(LockLostException.class);
		assertThat(holderOf("k")).isNull();
		both.readLock().lock();
		both.readLock().unlock();
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
		List<Claim> claims = new CopyOnWriteArrayList<>();
		this.backend.onAcquire(claims::add);
		this.backend.onRegister(claims::add);
		both.readLock().lock();
		both.readLock().unlock();
		assertThat(claims).isNotEmpty().noneMatch(Claim::fair).noneMatch(Claim::fenced);
		claims.clear();
		both.writeLock().lock();
		both.writeLock().unlock();
		assertThat(claims).isNotEmpty().allMatch(Claim::fair).allMatch(Claim::fenced);
	}

	@Test
	void isOneLockWhateverTheOrderOfItsKeys() {
		this.locks.lock(LockRequest.of("a", "b")).lock();
		this.locks.lock(LockRequest.of("b", "a")).unlock();
		assertThat(holderOf("a")).isNull();
	}

	@ParameterizedTest
	@MethodSource("modes")
	void hasNoConditions(UnaryOperator<LockRequest> mode) {
		Lock lock = this.locks.lock(mode.apply(LockRequest.of("k")));
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(lock::newCondition);
	}

	@Test
	void isNotHeldIfTheStoreRefuses() {
		Lock lock = this.locks.lock("k");
		for (ThrowingCallable wayIn : List.<ThrowingCallable>of(lock::lock, lock::lockInterruptibly, lock::tryLock,
				() -> lock.tryLock(0, TimeUnit.SECONDS))) {
			this.backend.next("acquire", (step) -> {
				throw LockBackendException.of("down").withoutEffect(true).build();
			});
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(wayIn);
			assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(lock::unlock);
		}
	}

	@Test
	void lockOutlastsAStoreThatIsDown() {
		Lock lock = this.locks.lock("k");
		this.backend.breaks(ScriptedBackend.NOT_NOW);
		CompletableFuture<Boolean> locking = inThread(() -> {
			lock.lock();
			lock.unlock();
			return true;
		});
		untilWaiting(1);
		this.time.advance(Duration.ofMinutes(1));
		assertThat(locking).isNotDone();
		this.backend.works();
		this.time.advance(LEASE);
		assertThat(locking).succeedsWithin(PATIENCE);
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

	/**
	 * A lock whose handles fail as they are closed.
	 */
	private static final class FailingRelease extends ForwardingDistributedLock {

		private FailingRelease(DistributedLock delegate) {
			super(delegate);
		}

		@Override
		public Optional<LockHandle> tryAcquire(LockRequest request) {
			return Optional.of(new StubHandle(request.keys()) {

				@Override
				public void close() {
					throw new UnsupportedOperationException();
				}

			});
		}

	}

}
