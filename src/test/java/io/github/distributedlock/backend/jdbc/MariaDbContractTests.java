package io.github.distributedlock.backend.jdbc;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.tck.LockBackendContractTests;
import io.github.distributedlock.tck.SharedContractTests;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Locks in MariaDB keep the contract of every store, by its own driver and by MySQL's.
 */
@Tag("thorough")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MariaDbContractTests {

	private final AtomicInteger tables = new AtomicInteger();

	private final Map<String, HikariDataSource> pools = new ConcurrentHashMap<>();

	private MariaDb server;

	@BeforeAll
	void start() {
		this.server = new MariaDb();
		Stream.of(MariaDb.DRIVERS).forEach((driver) -> this.pools.put(driver, this.server.pool(driver)));
	}

	@AfterAll
	void stop() {
		this.pools.values().forEach(HikariDataSource::close);
		this.server.close();
	}

	private LockBackend store(String driver) {
		String table = "locks_" + this.tables.incrementAndGet();
		HikariDataSource pool = this.pools.get(driver);
		new JdbcTemplate(pool).execute(Platform.MARIADB.schema(table));
		return new JdbcLockBackend(pool, JdbcLockSettings.defaults().table(table));
	}

	@Nested
	class OfOwnersAndTurns extends LockBackendContractTests {

		@Override
		protected Stream<String> stores() {
			return Stream.of(MariaDb.DRIVERS);
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
			return Stream.of(MariaDb.DRIVERS);
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
