package io.github.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.github.distributedlock.autoconfigure.DistributedLockProperties.InitializeSchema;
import io.github.distributedlock.autoconfigure.DistributedLockProperties.Jdbc;
import io.github.distributedlock.backend.jdbc.Postgres;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests for {@link TableInitializer} on PostgreSQL, which refuses to create one table
 * several times at once.
 */
class TableInitializerTests {

	private static final int TOGETHER = 8;

	private static final String DATABASE = "initialized";

	private static EmbeddedPostgres postgres;

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	@BeforeAll
	static void start() {
		postgres = Postgres.shared();
		new JdbcTemplate(postgres.getPostgresDatabase()).execute("create database " + DATABASE);
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
			.withPropertyValues("spring.datasource.url=" + postgres.getJdbcUrl("postgres", DATABASE),
					"spring.datasource.username=postgres", "spring.datasource.hikari.maximum-pool-size=1",
					"distributed-lock.jdbc.initialize-schema=always")
			.run((context) -> assertThat(context).hasNotFailed()))).isEmpty();
	}

	@Test
	void aTableThatIsThereNeedsNoRightToCreate() {
		initialize("given");
		new JdbcTemplate(database("postgres")).execute("create role app login; grant select on given to app");
		assertThatCode(() -> initialize("given", database("app"))).doesNotThrowAnyException();
		assertThatThrownBy(() -> initialize("other", database("app")))
			.hasMessageContaining("The table of the locks cannot be created");
	}

	private static DataSource database(String user) {
		return postgres.getDatabase(user, DATABASE);
	}

	private static void initialize(String table) {
		initialize(table, database("postgres"));
	}

	private static void initialize(String table, DataSource dataSource) {
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
