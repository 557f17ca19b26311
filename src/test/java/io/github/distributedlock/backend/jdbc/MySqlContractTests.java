package io.github.distributedlock.backend.jdbc;

import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.fixtures.RedisImages;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/**
 * Locks in MySQL keep the contract of every store.
 */
@Tag("thorough")
@EnabledIf(value = "io.github.distributedlock.fixtures.RedisImages#isDockerThere",
		disabledReason = "there is no Docker engine")
class MySqlContractTests extends DatabaseContract {

	private static final String IMAGE = "mysql:8.4";

	private static final int PORT = 3306;

	private final GenericContainer<?> server = new GenericContainer<>(DockerImageName.parse(IMAGE))
		.withEnv("MYSQL_ALLOW_EMPTY_PASSWORD", "yes")
		.withEnv("MYSQL_DATABASE", "locks")
		.withExposedPorts(PORT)
		// The one that prepares the database has no port.
		.waitingFor(Wait.forLogMessage(".*mysqld: ready for connections.*port: " + PORT + " .*", 1));

	private HikariDataSource pool;

	@BeforeAll
	@Timeout(value = 10, unit = TimeUnit.MINUTES) // The image may have to be pulled.
	void start() {
		RedisImages.pull(this.server, IMAGE);
		this.server.start();
		this.pool = new HikariDataSource();
		this.pool.setJdbcUrl("jdbc:mysql://" + this.server.getHost() + ":" + this.server.getMappedPort(PORT)
				+ "/locks?allowPublicKeyRetrieval=true");
		this.pool.setUsername("root");
		this.pool.setMaximumPoolSize(60);
		this.pool.setMinimumIdle(1);
	}

	@AfterAll
	void stop() {
		if (this.pool != null) {
			this.pool.close();
		}
		this.server.stop();
	}

	@Override
	LockBackend store(String driver) {
		return inTable(this.pool, Platform.MYSQL);
	}

}
