package io.github.distributedlock.backend.jdbc;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.tck.LockBackendContractTests;
import io.github.distributedlock.tck.SharedContractTests;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Locks in PostgreSQL keep the contract of every store.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PostgresContractTests {

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

	private LockBackend store() {
		String table = "contract_" + this.tables.incrementAndGet();
		new JdbcTemplate(this.pool).execute(Platform.POSTGRESQL.schema(table));
		JdbcLockBackend backend = new JdbcLockBackend(this.pool, JdbcLockSettings.defaults().table(table));
		backend.check(); // Knows then that the database notifies.
		return backend;
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
