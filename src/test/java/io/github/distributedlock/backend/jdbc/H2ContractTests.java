package io.github.distributedlock.backend.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.backend.ForwardingLockBackend;
import io.github.distributedlock.backend.LockBackend;

/**
 * Locks in H2 keep the contract of every store.
 */
class H2ContractTests extends DatabaseContract {

	@Override
	LockBackend store(String driver) {
		HikariDataSource pool = H2.pool();
		return new ForwardingLockBackend(new JdbcLockBackend(pool, Patient.SETTINGS)) {

			@Override
			public void close() {
				super.close();
				pool.close();
			}

		};
	}

}
