package com.example.locks;

import java.util.UUID;

import io.github.distributedlock.tck.LockBackendContractTests;
import org.h2.jdbcx.JdbcConnectionPool;

/**
 * Locks in H2 keep the contract of every store. What they do not add is reported as
 * skipped.
 */
class JdbcLocksTests extends LockBackendContractTests {

	@Override
	protected JdbcLocks backend(String store) {
		return new JdbcLocks(database());
	}

	static JdbcConnectionPool database() {
		return JdbcConnectionPool.create("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", "sa", "");
	}

}
