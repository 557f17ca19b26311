package io.github.distributedlock.autoconfigure;

import java.io.IOException;
import java.sql.Connection;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.backend.jdbc.Postgres;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.TcpRelay;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Tests for the connections that an application's locks have to PostgreSQL.
 */
@Tag("thorough")
class PostgresPoolTests {

	private static final String WAITING = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'";

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	@Test
	void theServerEndsAStatementWhoseClientIsGone() throws IOException {
		try (Postgres postgres = new Postgres(); TcpRelay relay = new TcpRelay(postgres.port())) {
			EmbeddedPostgres server = postgres.server;
			JdbcTemplate admin = new JdbcTemplate(server.getPostgresDatabase());
			Contexts.inDatabase()
				.withPropertyValues(
						"spring.datasource.url=" + server.getJdbcUrl("postgres", "postgres")
							.replace(":" + server.getPort() + "/", ":" + relay.port() + "/"),
						"distributed-lock.jdbc.initialize-schema=always", "distributed-lock.jdbc.command-timeout=5m",
						"distributed-lock.watchdog-timeout=1h")
				.run((context) -> {
					DistributedLock lock = context.getBean(DistributedLock.class);
					try (Connection operator = server.getPostgresDatabase().getConnection();
							Statement statement = operator.createStatement()) {
						operator.setAutoCommit(false);
						statement.execute("lock table distributed_lock in access exclusive mode");
						CompletableFuture.runAsync(() -> lock.acquire("k"), this.threads);
						Awaitility.await().until(() -> admin.queryForObject(WAITING, Integer.class) > 0);
						relay.close();
						Awaitility.await().until(() -> admin.queryForObject(WAITING, Integer.class) == 0);
					}
				});
		}
	}

}
