package io.github.distributedlock.backend.jdbc;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.tck.LockBackendContractTests;
import io.github.distributedlock.tck.SharedContractTests;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Both contracts, for the locks in a database. Each test has a table of its own.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class DatabaseContract {

	private final AtomicInteger tables = new AtomicInteger();

	/**
	 * Returns the names of the drivers, one unless there are several.
	 */
	Stream<String> drivers() {
		return Stream.of("the driver");
	}

	abstract LockBackend store(String driver);

	JdbcLockBackend inTable(DataSource pool, Platform platform) {
		String table = "contract_" + this.tables.incrementAndGet();
		new JdbcTemplate(pool).execute(platform.schema(table));
		return new JdbcLockBackend(pool, Patient.SETTINGS.table(table));
	}

	@Nested
	class OfOwnersAndTurns extends LockBackendContractTests {

		@Override
		protected Stream<String> stores() {
			return drivers();
		}

		@Override
		protected LockBackend backend(String driver) {
			return store(driver);
		}

		@Override
		protected boolean knowsWhoHears() {
			return false;
		}

	}

	@Nested
	class OfReadersFairOnesAndPermits extends SharedContractTests {

		@Override
		protected Stream<String> stores() {
			return drivers();
		}

		@Override
		protected LockBackend backend(String driver) {
			return store(driver);
		}

		@Override
		protected Duration silence() {
			return Rows.SILENCE;
		}

	}

}
