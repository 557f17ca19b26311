package com.example.locks;

import java.time.Duration;

import io.github.distributedlock.tck.SharedContractTests;

/**
 * A store over {@code OptimisticLockBackend} serves readers, fair requests and permits as
 * every store does.
 */
class TableLocksOrderTests extends SharedContractTests {

	@Override
	protected TableLocks backend(String store) {
		return new TableLocks(JdbcLocksTests.database());
	}

	@Override
	protected Duration silence() {
		return Duration.ofMillis(1500);
	}

}
