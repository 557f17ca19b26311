package io.github.distributedlock.tck;

import java.time.Duration;
import java.util.Map;
import java.util.OptionalLong;

import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.RedisTrial;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The trial of any lock finds out which one lets two in.
 */
class LockTrialTests {

	private static final Duration LEASE = Duration.ofSeconds(1);

	@Test
	void libraryHandsOneLockToOneThread() throws Exception {
		LockTrial.Report report = LockTrial.run(RedisTrial.class, Map.of(RedisTrial.PORT,
				"" + RedisServers.shared(RedisServers.EMBEDDED).port(), RedisTrial.LEASE, "" + LEASE.toMillis()),
				Duration.ofSeconds(3), LEASE.multipliedBy(2));
		assertThat(report.overlaps()).as("%s", report).isEmpty();
		assertThat(report.regressions()).as("%s", report).isEmpty();
		assertThat(report.holds()).allMatch((hold) -> hold.token().isPresent()).isNotEmpty();
		assertThat(report.kills() + report.pauses()).isPositive();
		assertThat(report.longestWait()).isPositive();
	}

	@Test
	void lockThatLetsAllInIsFound() throws Exception {
		LockTrial.Report report = LockTrial.run(OpenDoor.class, Map.of(), Duration.ofSeconds(1), LEASE);
		assertThat(report.overlapped()).as("%s", report).isPositive();
		assertThat(report.overlaps()).hasSizeGreaterThanOrEqualTo((int) report.overlapped());
		assertThat(report.regressions()).as("%s", report).isNotEmpty();
		assertThat(report.failures()).as("%s", report).contains("failed java.lang.IllegalStateException: the door");
	}

	@Test
	void lockThatCannotBeMadeIsReported() {
		assertThatIllegalStateException()
			.isThrownBy(() -> LockTrial.run(Missing.class, Map.of(), Duration.ofSeconds(1), LEASE))
			.withMessageContaining("no lock to try")
			.withMessageContaining("the lock is missing");
	}

	static class OpenDoor implements LockTrial.Subject {

		@Override
		public LockTrial.Held acquire(String key) {
			return new LockTrial.Held() {

				@Override
				public OptionalLong token() {
					return OptionalLong.of(1);
				}

				@Override
				public void release() {
					throw new IllegalStateException("the door");
				}

			};
		}

	}

	static class Missing implements LockTrial.Subject {

		Missing() {
			throw new IllegalStateException("the lock is missing");
		}

		@Override
		public LockTrial.Held acquire(String key) {
			throw new AssertionError(key);
		}

	}

}
