package io.github.distributedlock.backend.jdbc;

import java.util.concurrent.atomic.AtomicInteger;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.tck.LockBackendContractTests;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Locks in PostgreSQL keep the contract of every store.
 */
class PostgresContractTests extends LockBackendContractTests {

	private final AtomicInteger tables = new AtomicInteger();

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
	protected LockBackend backend(String store) {
		String table = "contract_" + this.tables.incrementAndGet();
		new JdbcTemplate(this.pool).execute(Platform.POSTGRESQL.schema(table));
		JdbcLockBackend backend = new JdbcLockBackend(this.pool, JdbcLockSettings.defaults().table(table));
		backend.check(); // Knows then that the database notifies.
		return backend;
	}

	@Override
	protected boolean knowsWhoHears() {
		return false;
	}

}
