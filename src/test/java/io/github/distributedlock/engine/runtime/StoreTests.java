package io.github.distributedlock.engine.runtime;

import java.time.Duration;
import java.util.Set;

import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockFeature;
import io.github.distributedlock.backend.Waiter;
import io.github.distributedlock.backend.WaiterQueue;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.SmallestBackend;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests for {@link Store}.
 */
class StoreTests {

	@Test
	void fairLocksWithoutPlacesAreRefusedWhenTheEngineIsBuilt() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockEngine.builder(new SmallestBackend() {

			@Override
			public Set<LockFeature> features() {
				return Set.of(LockFeature.FAIR);
			}

		}).build()).withMessageContaining("offers fair locks, but keeps no places");
	}

	@Test
	void aReservationThatNoWaiterCanTakeInTimeIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockEngine.builder(new Hasty()).build())
			.withMessageContaining("Hasty, 19 ms, is too short");
	}

	private static final class Hasty extends SmallestBackend implements WaiterQueue {

		@Override
		public AcquireResult acquireOrRegister(Claim claim) {
			return acquire(claim);
		}

		@Override
		public void withdraw(String key, Waiter waiter) {
		}

		@Override
		public Duration reservation() {
			return Duration.ofMillis(19);
		}

	}

}
