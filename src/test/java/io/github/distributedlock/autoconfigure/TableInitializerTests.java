package io.github.distributedlock.autoconfigure;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.github.distributedlock.autoconfigure.DistributedLockProperties.InitializeSchema;
import io.github.distributedlock.autoconfigure.DistributedLockProperties.Jdbc;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link TableInitializer} on PostgreSQL, which refuses to create one table
 * several times at once.
 */
class TableInitializerTests {

	private static final int TOGETHER = 8;

	private static EmbeddedPostgres postgres;

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	@BeforeAll
	static void start() throws IOException {
		postgres = EmbeddedPostgres.start();
	}

	@AfterAll
	static void stop() throws IOException {
		postgres.close();
	}

	@Test
	void eightAtOnceCreateOneTable() {
		for (int round = 0; round < 20; round++) {
			String table = "locks_" + round;
			assertThat(together(() -> initialize(table))).as("failures of round %d", round).isEmpty();
		}
	}

	@Test
	void eightApplicationsStartAtOnceOnAnEmptyDatabase() {
		assertThat(together(() -> Contexts.inDatabase()
			.withPropertyValues("spring.datasource.url=" + postgres.getJdbcUrl("postgres", "postgres"),
					"spring.datasource.username=postgres", "spring.datasource.hikari.maximum-pool-size=1",
					"distributed-lock.jdbc.initialize-schema=always")
			.run((context) -> assertThat(context).hasNotFailed()))).isEmpty();
	}

	private static void initialize(String table) {
		DataSource dataSource = postgres.getPostgresDatabase();
		new TableInitializer(dataSource, new Jdbc(null, table, InitializeSchema.ALWAYS, Duration.ofSeconds(2), 6, true))
			.initializeDatabase();
	}

	private List<Throwable> together(Runnable start) {
		CountDownLatch go = new CountDownLatch(1);
		List<CompletableFuture<@Nullable Throwable>> starts = Stream.generate(() -> CompletableFuture.runAsync(() -> {
			Patience.await(go, "all to be there");
			start.run();
		}, this.threads).handle((none, failure) -> failure)).limit(TOGETHER).toList();
		go.countDown();
		return starts.stream()
			.map((each) -> Patience.get(each, "the start"))
			.filter((failure) -> failure != null)
			.toList();
	}

}
