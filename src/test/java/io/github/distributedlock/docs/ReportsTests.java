package io.github.distributedlock.docs;

import java.util.List;

import io.github.distributedlock.LockLostException;

// tag::testing-plain[]
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.backend.memory.InMemoryLockBackend;
import io.github.distributedlock.engine.LockEngine;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
// end::testing-plain[]
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

// tag::testing-plain[]

class ReportsTests {

	private final InMemoryLockBackend store = new InMemoryLockBackend();

	private final Archive archive = new Archive();

	@Test
	void writesOnlyIfNobodyElseDoes() {
		try (LockEngine here = LockEngine.builder(this.store).build();
				LockEngine otherJvm = LockEngine.builder(this.store).build()) {
			Reports reports = new Reports(here, this.archive);
			try (LockHandle held = otherJvm.acquire("nightly-report")) {
				assertThat(reports.writeUnlessSomebodyDoes()).isFalse();
			}
			assertThat(reports.writeUnlessSomebodyDoes()).isTrue();
		}
	}

	// end::testing-plain[]

	@Test
	void publishesUnderTheLock() {
		try (LockEngine here = LockEngine.builder(this.store).build()) {
			Reports reports = new Reports(here, this.archive);
			reports.write();
			assertThat(this.archive.published()).containsExactly("under [nightly-report]");
			assertThat(reports.merge(List.of("b", "a"))).contains("a", "b");
		}
	}

	@Test
	void doesNotPublishWhatItNoLongerMay() {
		try (LockEngine here = LockEngine.builder(this.store).build()) {
			Archive slow = new Archive() {

				@Override
				public String collect() {
					here.close(); // its locks are lost
					return "stale";
				}

			};
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> new Reports(here, slow).write());
			assertThat(slow.published()).isEmpty();
		}
	}

	// tag::testing-plain[]

}
// end::testing-plain[]
