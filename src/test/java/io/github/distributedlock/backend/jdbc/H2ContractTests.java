package io.github.distributedlock.backend.jdbc;

import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.backend.ForwardingLockBackend;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.tck.LockBackendContractTests;
import io.github.distributedlock.tck.SharedContractTests;
import org.junit.jupiter.api.Nested;

/**
 * Locks in H2 keep the contract of every store.
 */
class H2ContractTests {

	private static LockBackend store() {
		HikariDataSource pool = H2.pool();
		return new ForwardingLockBackend(new JdbcLockBackend(pool, JdbcLockSettings.defaults())) {

			@Override
			public void close() {
				super.close();
				pool.close();
			}

		};
	}

	@Nested
	class OfOwnersAndTurns extends LockBackendContractTests {

		@Override
		protected LockBackend backend(String store) {
			return store();
		}

		@Override
		protected boolean knowsWhoHears() {
			return false;
		}

	}

	@Nested
	class OfReadersFairOnesAndPermits extends SharedContractTests {

		@Override
		protected LockBackend backend(String store) {
			return store();
		}

		@Override
		protected Duration silence() {
			return Rows.SILENCE;
		}

	}

}
