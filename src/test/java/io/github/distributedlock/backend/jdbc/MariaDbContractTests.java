package io.github.distributedlock.backend.jdbc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.tck.LockBackendContractTests;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Locks in MariaDB keep the contract of every store, by its own driver and by MySQL's.
 */
@Tag("thorough")
class MariaDbContractTests extends LockBackendContractTests {

	private final AtomicInteger tables = new AtomicInteger();

	private final Map<String, HikariDataSource> pools = new ConcurrentHashMap<>();

	private MariaDb server;

	@BeforeAll
	void start() {
		this.server = new MariaDb();
		stores().forEach((driver) -> this.pools.put(driver, this.server.pool(driver)));
	}

	@AfterAll
	void stop() {
		this.pools.values().forEach(HikariDataSource::close);
		this.server.close();
	}

	@Override
	protected Stream<String> stores() {
		return Stream.of(MariaDb.DRIVERS);
	}

	@Override
	protected LockBackend backend(String driver) {
		String table = "locks_" + this.tables.incrementAndGet();
		HikariDataSource pool = this.pools.get(driver);
		new JdbcTemplate(pool).execute(Platform.MARIADB.schema(table));
		return new JdbcLockBackend(pool, JdbcLockSettings.defaults().table(table));
	}

	@Override
	protected boolean knowsWhoHears() {
		return false;
	}

}
