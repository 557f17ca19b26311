package io.github.distributedlock.backend.jdbc;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.backend.LockBackend;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * Locks in MariaDB keep the contract of every store, by its own driver and by MySQL's.
 */
@Tag("thorough")
class MariaDbContractTests extends DatabaseContract {

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

	@Override
	Stream<String> drivers() {
		return Stream.of(MariaDb.DRIVERS);
	}

	@Override
	LockBackend store(String driver) {
		return inTable(this.pools.get(driver), Platform.MARIADB);
	}

}
