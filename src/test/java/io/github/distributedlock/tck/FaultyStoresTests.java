package io.github.distributedlock.tck;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

import io.github.distributedlock.backend.AcquireResult;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.LockBackend.Renewal;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.fixtures.SmallestBackend;
import io.github.distributedlock.tck.Eventually.WaitedInVain;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The contract finds each fault of a store by a test whose name says so, and finds none
 * in a store without faults.
 */
@Execution(ExecutionMode.CONCURRENT)
class FaultyStoresTests {

	@Test
	void thatReleasesWhatIsAnothersFails() {
		isFoundBy(OwnershipContractTests::onlyTheOwnerReleases, new LeastStore() {

			@Override
			public boolean release(String key, String owner) {
				return super.release(key, this.owners.getOrDefault(key, owner));
			}

		}, "owned");
	}

	@Test
	void whoseRenewalShortensFails() {
		isFoundBy(OwnershipContractTests::aRenewalNeverShortens, new LeastStore() {

			@Override
			public List<Boolean> renew(List<Renewal> renewals) {
				return renewals.stream()
					.map((each) -> release(each.key(), each.owner())
							&& acquire(Claim.of(each.key(), each.owner(), "a", each.lease())).acquired())
					.toList();
			}

		}, "still owned");
	}

	@Test
	void thatIgnoresExpiryFails() {
		isFoundBy(OwnershipContractTests::aLeaseRunsOut, new LeastStore() {

			@Override
			public AcquireResult acquire(Claim claim) {
				return super.acquire(claim.lease(Duration.ofDays(1)));
			}

		}, "Waited in vain");
	}

	@Test
	void thatDoesNotKnowItsOwnTokenFails() {
		isFoundBy(OwnershipContractTests::busyByTheOwnTokenIsAnAcquisitionWithAFullLease, new LeastStore() {

			@Override
			public AcquireResult acquire(Claim claim) {
				return claim.owner().equals(this.owners.get(claim.key())) ? AcquireResult.BUSY : super.acquire(claim);
			}

		}, "acquired what is its own");
	}

	@Test
	void thatRevivesWhatIsLeftToExpireFails() {
		isFoundBy(OwnershipContractTests::whatIsLeftToExpireIsBusyForThatTimeAndNobodys, new LeastStore() {

			@Override
			public boolean leaveToExpire(String key, String owner, Duration rest) {
				return true;
			}

		}, "revived");
	}

	@Test
	void thatGivesAKeyToTwoFails() {
		isFoundBy(OwnershipContractTests::noTwoOwnersAreThereAtTheSameTime, new LeastStore() {

			@Override
			public AcquireResult acquire(Claim claim) {
				super.acquire(claim);
				return AcquireResult.ACQUIRED;
			}

		}, "was held twice");
	}

	/**
	 * A missing notification would take ten times as long to be reported.
	 */
	@Test
	void waitInVainIsNotRepeatedAsAfterAStandstill() {
		Contract impatient = new Contract(new LeastStore()) {

			@Override
			protected Duration patience() {
				return Duration.ofMillis(300);
			}

		};
		AtomicInteger attempts = new AtomicInteger();
		Executable test = () -> {
			attempts.incrementAndGet();
			impatient.open("the store");
			impatient.eventually("a notification", () -> false);
		};
		assertThatExceptionOfType(WaitedInVain.class).isThrownBy(() -> Repeated.repeat(impatient, test, test));
		assertThat(attempts).hasValueLessThan(10);
	}

	private static void isFoundBy(BiConsumer<Contract, String> test, LeastStore faulty, String message) {
		assertThatCode(() -> run(test, new LeastStore())).doesNotThrowAnyException();
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> run(test, faulty))
			.withMessageContaining(message);
	}

	private static void run(BiConsumer<Contract, String> test, LeastStore store) throws Throwable {
		Contract contract = new Contract(store);
		Executable attempt = () -> test.accept(contract, contract.stores().findFirst().orElseThrow());
		try {
			Repeated.repeat(contract, attempt, attempt);
		}
		finally {
			contract.closeBackends();
		}
	}

	/**
	 * The contract of one store. No test class of its own, since faults are to be found.
	 */
	private static class Contract extends OwnershipContractTests {

		private final LockBackend store;

		private Contract(LockBackend store) {
			this.store = store;
		}

		@Override
		protected LockBackend backend(String store) {
			return this.store;
		}

		@Override
		protected Duration patience() {
			return Duration.ofSeconds(5);
		}

	}

	/**
	 * A store that does what every store does, and nothing else.
	 */
	private static class LeastStore extends SmallestBackend {

		/** The owners that have acquired the keys last. */
		final Map<String, String> owners = new ConcurrentHashMap<>();

		@Override
		public AcquireResult acquire(Claim claim) {
			if (!super.acquire(claim).acquired()) {
				return AcquireResult.BUSY;
			}
			this.owners.put(claim.key(), claim.owner());
			return AcquireResult.ACQUIRED;
		}

	}

}
