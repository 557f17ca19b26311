package io.github.distributedlock.autoconfigure;

import java.util.concurrent.CompletableFuture;

import io.github.distributedlock.DistributedLock;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.Claim;
import io.github.distributedlock.backend.jdbc.Postgres;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.TestRedis;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * An application of which a snapshot is taken: Spring stops its beans before a checkpoint
 * of CRaC, which refuses a process with open sockets, and starts them after the restore.
 */
class CheckpointTests {

	@RegisterExtension
	static final TestRedis REDIS = new TestRedis();

	@ParameterizedTest
	@EnumSource
	void stopLeavesNoConnectionAndStartTakesAnotherIdentity(Client client) {
		Contexts.withRedis(REDIS.port())
			.withPropertyValues("spring.data.redis.client-type=" + client)
			.run((context) -> {
				ConfigurableApplicationContext application = context
					.getSourceApplicationContext(ConfigurableApplicationContext.class);
				DistributedLock lock = context.getBean(DistributedLock.class);
				String before = waitsForALock(lock);
				application.stop();
				await("no connection but ours").until(() -> connections() == 1);
				application.start();
				assertThat(waitsForALock(lock)).isNotEqualTo(before);
				assertThat(connections()).isGreaterThan(1);
			});
	}

	@Test
	void stopLeavesNoConnectionToTheDatabase() throws Exception {
		try (Postgres server = new Postgres()) {
			EmbeddedPostgres postgres = server.server;
			JdbcTemplate admin = new JdbcTemplate(
					new SingleConnectionDataSource(postgres.getPostgresDatabase().getConnection(), true));
			Contexts.inDatabase()
				.withPropertyValues("spring.datasource.url=" + postgres.getJdbcUrl("app", "postgres"),
						"spring.datasource.username=app", "spring.datasource.hikari.minimum-idle=0",
						"distributed-lock.jdbc.initialize-schema=never")
				.withInitializer((context) -> {
					admin.execute("create role app superuser login");
					new ResourceDatabasePopulator(
							new ClassPathResource("io/github/distributedlock/backend/jdbc/schema-postgresql.sql"))
						.execute(admin.getDataSource());
				})
				.run((context) -> {
					ConfigurableApplicationContext application = context
						.getSourceApplicationContext(ConfigurableApplicationContext.class);
					LockEngine engine = context.getBean(LockEngine.class);
					String before = waitsForALock(engine);
					// The thread that listens may begin later.
					await("one listens, one renews").until(() -> sessions(admin) > 1);
					application.stop();
					await("no session").until(() -> sessions(admin) == 0);
					application.start();
					assertThat(waitsForALock(engine)).isNotEqualTo(before);
				});
		}
	}

	private static int sessions(JdbcTemplate admin) {
		return admin.queryForObject("select count(*) from pg_stat_activity where usename = 'app'", Integer.class);
	}

	private static String waitsForALock(LockEngine engine) {
		LockHandle first = engine.acquire(LockRequest.of("k").detached(true));
		CompletableFuture<LockHandle> second = engine.acquireAsync(LockRequest.of("k").waitTime(Patience.PATIENCE));
		await("the second request waits").until(() -> engine.requestsWaiting() == 1);
		first.close();
		try (LockHandle handle = Patience.get(second, "the lock")) {
			return Claim.instanceOf(handle.owner());
		}
	}

	/**
	 * Waits for a busy lock, so that each kind of connection is opened.
	 * @return the instance that got the lock
	 */
	private static String waitsForALock(DistributedLock lock) {
		Jedis admin = REDIS.admin();
		admin.set("lock:{k}", "other#1:1");
		CompletableFuture<LockHandle> acquired = lock
			.acquireAsync(LockRequest.of("k").waitTime(Patience.PATIENCE).detached(true));
		await("the request waits, and the engine listens").until(() -> !admin.pubsubChannels("lock-wake:*").isEmpty());
		admin.del("lock:{k}");
		try (LockHandle handle = Patience.get(acquired, "the lock")) {
			return Claim.instanceOf(handle.owner());
		}
	}

	private static long connections() {
		return REDIS.admin().clientList().lines().count();
	}

}
