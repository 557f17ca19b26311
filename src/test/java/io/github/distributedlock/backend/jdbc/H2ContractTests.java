package io.github.distributedlock.backend.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.backend.ForwardingLockBackend;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.tck.LockBackendContractTests;

/**
 * Locks in H2 keep the contract of every store.
 */
class H2ContractTests extends LockBackendContractTests {

	@Override
	protected LockBackend backend(String store) {
		HikariDataSource pool = H2.pool();
		return new ForwardingLockBackend(new JdbcLockBackend(pool, JdbcLockSettings.defaults())) {

			@Override
			public void close() {
				super.close();
				pool.close();
			}

		};
	}

	@Override
	protected boolean knowsWhoHears() {
		return false;
	}

}
