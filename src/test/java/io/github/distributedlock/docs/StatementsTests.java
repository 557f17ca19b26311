package io.github.distributedlock.docs;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.fixtures.RedisServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.Jedis;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The database refuses what a paused holder writes when another has had the lock.
 */
class StatementsTests {

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	private final CountDownLatch paused = new CountDownLatch(1);

	private final CountDownLatch resumed = new CountDownLatch(1);

	@Test
	void lateWriteIsRefused() throws Exception {
		try (RedisServers.Server redis = RedisServers.start(RedisServers.EMBEDDED);
				ConfigurableApplicationContext one = DocsApplication.start(redis);
				ConfigurableApplicationContext two = DocsApplication.start(redis)) {
			JdbcTemplate database = one.getBean(JdbcTemplate.class);
			database.execute("CREATE TABLE statement (account VARCHAR PRIMARY KEY, content VARCHAR, token BIGINT)");
			database.update("INSERT INTO statement VALUES ('7', 'none', 0)");
			Statements statements = one.getBean(Statements.class);
			statements.write("7", () -> "first");
			assertThat(contentIn(database)).isEqualTo("first");
			CompletableFuture<Void> late = CompletableFuture
				.runAsync(() -> statements.write("7", this::contentAfterAPause), this.threads);
			assertThat(this.paused.await(Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
			try (Jedis admin = redis.admin()) {
				assertThat(admin.del("lock:{statement:7}")).as("as if the lease had run out").isEqualTo(1);
			}
			two.getBean(Statements.class).write("7", () -> "second");
			this.resumed.countDown();
			assertThat(late).failsWithin(Patience.PATIENCE)
				.withThrowableOfType(ExecutionException.class)
				.withCauseInstanceOf(OptimisticLockingFailureException.class);
			assertThat(contentIn(database)).isEqualTo("second");
		}
	}

	private String contentAfterAPause() {
		this.paused.countDown();
		Patience.await(this.resumed, "to be resumed");
		return "late";
	}

	private static String contentIn(JdbcTemplate database) {
		return database.queryForObject("SELECT content FROM statement WHERE account = '7'", String.class);
	}

}
