package io.github.distributedlock.backend.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.backend.LockBackend;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * Locks in PostgreSQL keep the contract of every store.
 */
class PostgresContractTests extends DatabaseContract {

	private HikariDataSource pool;

	@BeforeAll
	void start() {
		this.pool = Postgres.pool(Postgres.shared());
	}

	@AfterAll
	void stop() {
		this.pool.close();
	}

	@Override
	LockBackend store(String driver) {
		JdbcLockBackend backend = inTable(this.pool, Platform.POSTGRESQL);
		backend.check(); // Knows then that the database notifies.
		return backend;
	}

}
