package com.example.locks;

import io.github.distributedlock.tck.LockBackendContractTests;

/**
 * A store over {@code OptimisticLockBackend} keeps the contract of every store.
 */
class TableLocksTests extends LockBackendContractTests {

	@Override
	protected TableLocks backend(String store) {
		return new TableLocks(JdbcLocksTests.database());
	}

	// Waiters ask, and those that have died are silent.
	@Override
	protected boolean knowsWhoHears() {
		return false;
	}

}
