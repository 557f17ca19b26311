package io.github.distributedlock.shedlock;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import io.github.distributedlock.ForwardingDistributedLock;
import io.github.distributedlock.LockBackendException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.EngineFixture;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.BlockedDelays;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link DistributedLockProvider}: what ShedLock asks of each provider, and
 * what is said of this one. The timers of {@code lockAtMostFor} are rung by the test.
 */
@ExtendWith(OutputCaptureExtension.class)
class DistributedLockProviderTests extends EngineFixture {

	private static final Duration HOUR = Duration.ofHours(1);

	private static final Duration FOREVER = ChronoUnit.FOREVER.getDuration();

	private final List<Timer> timers = new ArrayList<>();

	private boolean lacksAThread;

	private final DistributedLockProvider provider = new DistributedLockProvider(this.engine, (duration) -> {
		Timer timer = new Timer(duration, new CompletableFuture<>());
		if (this.lacksAThread) {
			throw new OutOfMemoryError("unable to create native thread (test)");
		}
		this.timers.add(timer);
		return timer.end();
	});

	private final LockEngine otherEngine = engine(this.store, "them");

	private final LockProvider other = new DistributedLockProvider(this.otherEngine);

	@Test
	void locksUntilUnlocked() {
		SimpleLock lock = lock(HOUR, Duration.ZERO);
		assertThat(isFree()).isFalse();
		lock.unlock();
		assertThat(isFree()).isTrue();
		lock(HOUR, Duration.ZERO).unlock();
	}

	@Test
	void isNotReentrant() {
		SimpleLock lock = lock(HOUR, Duration.ZERO);
		assertThat(this.provider.lock(configuration(HOUR, Duration.ZERO))).isEmpty();
		lock.unlock();
		try (LockHandle handle = this.engine.acquire("job")) {
			assertThat(this.provider.lock(configuration(HOUR, Duration.ZERO))).isEmpty();
			assertThat(handle.isHeld()).isTrue();
		}
	}

	@Test
	void isNotBusyForAThreadThatHoldsTheKeyInAnotherStore() {
		try (LockHandle elsewhere = engine(new InMemoryLockBackend(this.time::nanoTime), "other store")
			.acquire("job")) {
			lock(HOUR, Duration.ZERO).unlock();
			assertThat(elsewhere.isHeld()).isTrue();
		}
	}

	@Test
	void doesNotWait() {
		ownedElsewhere("job", LEASE);
		assertThat(this.provider.lock(configuration(HOUR, Duration.ZERO))).isEmpty();
		assertThat(this.backend.steps()).containsExactly("acquire job");
	}

	@Test
	void isUnlockedByAnyThread() {
		SimpleLock lock = lock(HOUR, Duration.ZERO);
		inThread(() -> {
			lock.unlock();
			return null;
		}).join();
		assertThat(isFree()).isTrue();
	}

	@Test
	void othersStayOutForLockAtLeastFor() {
		lock(HOUR, Duration.ofSeconds(2)).unlock();
		assertFreeAfter(Duration.ofSeconds(2));
	}

	@Test
	void isRenewedUntilLockAtMostFor(CapturedOutput output) {
		SimpleLock lock = lock(HOUR, Duration.ZERO);
		assertThat(timer().duration()).isEqualTo(HOUR);
		this.time.advance(LEASE.multipliedBy(3));
		assertThat(isFree()).isFalse();
		timer().end().complete(null);
		Awaitility.await("the lock is given back").until(this::isFree);
		assertThat(output).containsOnlyOnce("Lock 'job' is released though its task has not ended,"
				+ " since its lockAtMostFor of PT1H is over: another JVM may run the task now");
		lock.unlock();
	}

	@Test
	void rings() {
		assertThat(this.other.lock(configuration(Duration.ofMillis(50), Duration.ZERO))).isPresent();
		Awaitility.await("the lock is given back, on a clock that stands").until(this::isFree);
	}

	@Test
	void timerEndsWithTheLock() {
		lock(HOUR, Duration.ZERO).unlock();
		assertThat(timer().end()).isCancelled();
	}

	@Test
	void lockOfADeadNodeCostsOneLease() {
		lock(HOUR, Duration.ZERO);
		this.engine.close();
		this.time.advance(LEASE);
		assertThat(isFree()).isTrue();
	}

	@Test
	void extendsPastLockAtMostFor() {
		SimpleLock lock = lock(Duration.ofSeconds(1), Duration.ZERO);
		SimpleLock longer = lock.extend(HOUR, Duration.ZERO).orElseThrow();
		assertThat(this.timers.get(0).end()).isCancelled();
		assertThat(timer().duration()).isEqualTo(HOUR);
		assertThat(isFree()).isFalse();
		SimpleLock longest = longer.extend(HOUR, Duration.ZERO).orElseThrow();
		timer().end().complete(null);
		Awaitility.await("the lock is given back").until(this::isFree);
		longest.unlock();
		assertThat(this.backend.steps()).filteredOn("acquire job"::equals).hasSize(1);
	}

	@Test
	void extendsLockAtLeastFor() {
		SimpleLock lock = lock(HOUR, Duration.ofSeconds(1));
		this.time.advance(Duration.ofSeconds(5));
		lock.extend(HOUR, Duration.ofSeconds(9)).orElseThrow().unlock();
		assertFreeAfter(Duration.ofSeconds(9));
	}

	@Test
	void lockAtLeastForIsNotMadeShorter() {
		lock(HOUR, Duration.ofSeconds(9)).extend(HOUR, Duration.ZERO).orElseThrow().unlock();
		assertFreeAfter(Duration.ofSeconds(9));
	}

	@Test
	void refusesTimesThatAreTooLongBeforeTheStoreIsAsked() {
		assertThatIllegalArgumentException().isThrownBy(() -> lock(FOREVER, Duration.ZERO))
			.withMessage("lockAtMostFor " + FOREVER + " is longer than 365 days");
		assertThat(this.backend.steps()).isEmpty();
	}

	@Test
	void lockIsGivenBackIfItCannotBeTimed() {
		this.lacksAThread = true;
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> lock(HOUR, Duration.ofMinutes(1)));
		assertThat(isFree()).isTrue();
	}

	@Test
	void extensionThatIsRefusedChangesNothing() {
		SimpleLock lock = lock(HOUR, Duration.ZERO);
		assertThatIllegalArgumentException().isThrownBy(() -> lock.extend(FOREVER, Duration.ZERO));
		this.lacksAThread = true;
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> lock.extend(HOUR, Duration.ZERO));
		assertThat(isFree()).isFalse();
		assertThat(timer().end()).isNotDone();
		lock.unlock();
		assertThat(isFree()).isTrue();
	}

	/**
	 * Nothing has run under the new lock, so that the new lock keeps nobody out.
	 */
	@Test
	void isNotExtendedByAnotherHold() {
		SimpleLock lock = new DistributedLockProvider(new SlowToReenter()).lock(configuration(HOUR, Duration.ZERO))
			.orElseThrow();
		assertThat(lock.extend(HOUR, Duration.ofMinutes(1))).isEmpty();
		assertThat(isFree()).isTrue();
	}

	@Test
	void isOverWhenUnlockedOrExtended() {
		SimpleLock lock = lock(HOUR, Duration.ZERO);
		SimpleLock longer = lock.extend(HOUR, Duration.ZERO).orElseThrow();
		assertThatIllegalStateException().isThrownBy(lock::unlock);
		assertThatIllegalStateException().isThrownBy(() -> lock.extend(HOUR, Duration.ZERO));
		longer.unlock();
		assertThatIllegalStateException().isThrownBy(longer::unlock);
		assertThatIllegalStateException().isThrownBy(() -> longer.extend(HOUR, Duration.ZERO));
	}

	@Test
	void isNotExtendedAfterLockAtMostFor() {
		SimpleLock lock = lock(HOUR, Duration.ZERO);
		timer().end().complete(null);
		assertThat(lock.extend(HOUR, Duration.ZERO)).isEmpty();
		Awaitility.await("the lock is given back").until(this::isFree);
	}

	@Test
	void endsAfterLockAtMostForWhateverBlocksTheDelaysOfTheJdk() {
		try (BlockedDelays blocked = new BlockedDelays()) {
			this.other.lock(configuration(Duration.ofMillis(1), Duration.ZERO)).orElseThrow();
			Awaitility.await("the lock is given back").until(this::isFree);
		}
	}

	@Test
	void isNotExtendedWhenLost() {
		SimpleLock lock = lock(HOUR, Duration.ZERO);
		this.time.pass(LEASE);
		assertThat(lock.extend(HOUR, Duration.ZERO)).isEmpty();
		assertThat(isFree()).isTrue();
	}

	@Test
	void unlockOfALostLockTakesItFromNobody() {
		SimpleLock lock = lock(HOUR, Duration.ZERO);
		this.time.pass(LEASE);
		ownedElsewhere("job", LEASE);
		lock.unlock();
		assertThat(isFree()).isFalse();
	}

	@Test
	void stopWaitsForTheTask() {
		SimpleLock lock = lock(HOUR, Duration.ZERO);
		CompletableFuture<Void> stop = this.engine.stop();
		assertThat(stop).isNotDone();
		lock.unlock();
		assertThat(stop).succeedsWithin(PATIENCE);
	}

	@Test
	void taskIsNotRunDuringAStopAndOneLineSaysSo(CapturedOutput output) {
		this.engine.stop();
		assertThat(this.provider.lock(configuration(HOUR, Duration.ZERO))).isEmpty();
		assertThat(output.toString().lines().filter((line) -> line.contains("job")))
			.singleElement(InstanceOfAssertFactories.STRING)
			.contains("Job 'job' is not run: Lock 'job' cannot be acquired: the lock engine is stopped");
		assertThat(output).doesNotContain("\tat ");
	}

	@Test
	void logThatThrowsDoesNotKeepTheLock() {
		lock(HOUR, Duration.ZERO);
		Logger logger = (Logger) LoggerFactory.getLogger(DistributedLockProvider.class);
		TurboFilter broken = new TurboFilter() {

			@Override
			public FilterReply decide(Marker marker, Logger of, Level level, String format, Object[] params,
					Throwable thrown) {
				if (of == logger) {
					throw new AssertionError("the log");
				}
				return FilterReply.NEUTRAL;
			}

		};
		logger.getLoggerContext().addTurboFilter(broken);
		try {
			timer().end().complete(null);
		}
		finally {
			logger.getLoggerContext().getTurboFilterList().remove(broken);
		}
		Awaitility.await("the lock is given back").until(this::isFree);
	}

	@Test
	void taskIsNotRunIfTheStoreFails() {
		this.backend.next("acquire", (step) -> {
			throw LockBackendException.of("down").withoutEffect(true).build();
		});
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.provider.lock(configuration(HOUR, Duration.ZERO)));
	}

	private void assertFreeAfter(Duration held) {
		this.time.advance(held.minusMillis(100));
		assertThat(isFree()).isFalse();
		this.time.advance(Duration.ofMillis(200));
		assertThat(isFree()).isTrue();
	}

	private SimpleLock lock(Duration atMost, Duration atLeast) {
		return this.provider.lock(configuration(atMost, atLeast)).orElseThrow();
	}

	private static LockConfiguration configuration(Duration atMost, Duration atLeast) {
		return new LockConfiguration(Instant.EPOCH, "job", atMost, atLeast);
	}

	private Timer timer() {
		return this.timers.get(this.timers.size() - 1);
	}

	/**
	 * Returns whether another node gets the lock.
	 */
	private boolean isFree() {
		Optional<SimpleLock> lock = this.other.lock(configuration(HOUR, Duration.ZERO));
		lock.ifPresent(SimpleLock::unlock);
		return lock.isPresent();
	}

	/**
	 * A lock whose extension takes longer than the lease lasts.
	 */
	private final class SlowToReenter extends ForwardingDistributedLock {

		private SlowToReenter() {
			super(DistributedLockProviderTests.this.engine);
		}

		@Override
		public Optional<LockHandle> tryAcquire(LockRequest request) {
			if (LockHandle.current().isPresent()) {
				DistributedLockProviderTests.this.time.pass(LEASE);
			}
			return super.tryAcquire(request);
		}

	}

	private record Timer(Duration duration, CompletableFuture<@Nullable Void> end) {
	}

}
