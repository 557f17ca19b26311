package io.github.distributedlock.engine;

import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.fixtures.SmallestBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.fixtures.Patience;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The engine in a user's hands: on real time, with its own threads, without Spring.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockEngineTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	@Test
	void settingsThatCannotWorkAreRefused() {
		LockEngine.Builder builder = LockEngine.builder(new InMemoryLockBackend());
		assertThatIllegalArgumentException().isThrownBy(() -> builder.watchdogTimeout(Duration.ofMillis(999)))
			.withMessage("watchdogTimeout 999 ms is out of range: at least 1 s, at most 365 days;"
					+ " write 999s if seconds are meant");
		assertThatIllegalArgumentException().isThrownBy(() -> builder.waitTime(Duration.ofMillis(-1)));
		assertThatIllegalArgumentException().isThrownBy(() -> builder.warnHeldAfter(Duration.ZERO))
			.withMessageContaining("at least 1 ms");
		assertThatIllegalArgumentException().isThrownBy(() -> builder.maxKeyBytes(0))
			.withMessage("maxKeyBytes 0 must be at least 1");
		Duration second = Duration.ofSeconds(1);
		assertThatIllegalArgumentException().isThrownBy(() -> builder.pollInterval(Duration.ZERO, second))
			.withMessage("The poll interval 0 ms is out of range: at least 1 ms, at most 1 minute");
		assertThatIllegalArgumentException().isThrownBy(() -> builder.pollInterval(second, Duration.ofMillis(60_001)))
			.withMessage("The poll interval 60.001 s is out of range: at least 1 ms, at most 1 minute");
		assertThatIllegalArgumentException().isThrownBy(() -> builder.pollInterval(second, Duration.ofMillis(999)))
			.withMessage("The longest poll interval, 999 ms, is shorter than the shortest, which is 1 s:"
					+ " make it at least as long");
	}

	@Test
	void aStoreThatDoesNotGoTogetherIsRefused() {
		isRefused(new SmallestBackend() {

			@Override
			public Set<LockFeature> features() {
				return Set.of(LockFeature.FAIR);
			}

		}, "offers fair locks, but keeps no places");
		isRefused(new SmallestBackend() {

			@Override
			public Set<LockFeature> features() {
				return Set.of(LockFeature.PLACES);
			}

			@Override
			public Duration reservation() {
				return Duration.ofMillis(19);
			}

		}, "19 ms, is too short");
		isRefused(new SmallestBackend() {

			@Override
			public Duration shortestLease() {
				return Duration.ofMinutes(1);
			}

		}, "The watchdog timeout of 30 s is shorter than ");
	}

	private static void isRefused(LockBackend backend, String message) {
		assertThatIllegalArgumentException().isThrownBy(() -> LockEngine.builder(backend).build())
			.withMessageContaining(message);
	}

	@Test
	void engineThatIsIdleHasNoThreadsAndABusyOneHasFew(CapturedOutput output) {
		Awaitility.await("the threads of other tests have ended").until(() -> lockThreads() == 0);
		WallClock clock = new WallClock();
		try (LockEngine engine = clock.build(LockEngine.builder(new InMemoryLockBackend()))) {
			assertThat(lockThreads()).isZero();
			List<LockHandle> handles = new ArrayList<>();
			for (int i = 0; i < 1000; i++) {
				handles.add(engine.acquire(LockRequest.of("k" + i).leaseTime(LEASE).detached(true)));
			}
			clock.advance(LEASE);
			Awaitility.await().until(() -> handles.stream().noneMatch(LockHandle::isHeld));
			assertThat(lockThreads()).isBetween(1L, 8L);
			Awaitility.await("no line of the log comes into a later test")
				.until(() -> output.getOut().split("was lost after", -1).length > 1000);
		}
		Awaitility.await().until(() -> lockThreads() == 0);
	}

	private static long lockThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().matches("distributed-lock-[a-z]+-\\d+"))
			.count();
	}

	@Test
	void lossIsLoggedOnceWithKeyOwnerAndRemedy(CapturedOutput output) throws Exception {
		WallClock clock = new WallClock();
		try (LockEngine engine = clock.build(LockEngine.builder(new InMemoryLockBackend()))) {
			CountDownLatch lost = new CountDownLatch(1);
			LockHandle handle = engine.acquire(LockRequest.of("short").leaseTime(LEASE));
			handle.onLost(lost::countDown);
			clock.advance(LEASE);
			assertThat(lost.await(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
			Awaitility.await("the log")
				.untilAsserted(() -> assertThat(output)
					.containsOnlyOnce("Lock 'short' of " + handle.owner() + " was lost after")
					.contains("(leave the leaseTime empty"));
			handle.close();
		}
	}

	@Test
	void handleThatIsHeldTooLongIsLoggedWithTheStackThatAcquiredIt(CapturedOutput output) {
		AtomicInteger marker = new AtomicInteger();
		try (LockEngine engine = LockEngine.builder(new InMemoryLockBackend())
			.warnHeldAfter(Duration.ofMillis(50))
			.build(); LockHandle handle = engine.acquire("forgotten")) {
			Awaitility.await().untilAsserted(() -> {
				marker.incrementAndGet();
				assertThat(output).contains("Lock [forgotten] has been held for 50 ms, longer than warn-held-after")
					.contains("LockEngineTests.handleThatIsHeldTooLongIsLoggedWithTheStackThatAcquiredIt");
			});
			assertThat(handle.isHeld()).isTrue();
		}
	}

}
