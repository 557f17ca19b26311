package io.github.distributedlock.multijvm;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.backend.jdbc.JdbcLockBackend;
import io.github.distributedlock.backend.jdbc.JdbcLockSettings;
import io.github.distributedlock.backend.jdbc.Postgres;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.OwnThreads;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.multijvm.DatabaseVisitor.Kind;
import io.github.distributedlock.tck.History;
import io.github.distributedlock.tck.History.Hold;
import io.github.distributedlock.tck.HistoryChecker;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three JVMs share, limit and queue up for a lock in a table of PostgreSQL.
 */
@Tag("thorough")
class DatabaseTests {

	private static final String TABLE = "jvms_lock";

	private static final int JVMS = 3;

	@RegisterExtension
	final OwnThreads threads = new OwnThreads();

	@TempDir
	private Path directory;

	private final HikariDataSource pool = new HikariDataSource();

	private final JdbcTemplate database = new JdbcTemplate(this.pool);

	private final List<JvmProcess> visitors = new ArrayList<>();

	private JdbcLockBackend store;

	private LockEngine engine;

	@BeforeEach
	void start() throws Exception {
		this.pool.setJdbcUrl(url());
		this.database.execute("drop table if exists " + TABLE + ", served");
		this.database.execute(new ClassPathResource("schema-postgresql.sql", JdbcLockBackend.class)
			.getContentAsString(StandardCharsets.UTF_8)
			.replace("distributed_lock", TABLE));
		this.database.execute("create table served (number serial, name text)");
		this.store = new JdbcLockBackend(this.pool,
				JdbcLockSettings.defaults().table(TABLE).commandTimeout(Patience.COMMAND));
		this.store.check();
		this.engine = LockEngine.builder(this.store).watchdogTimeout(DatabaseVisitor.LEASE).build();
		for (int i = 0; i < JVMS; i++) {
			this.visitors.add(JvmProcess.start(DatabaseVisitor.class, url(), TABLE,
					this.directory.resolve("jvm-" + i).toString()));
		}
		this.visitors.forEach((visitor) -> visitor.awaitLine("ready"));
	}

	@AfterEach
	void stop() {
		this.visitors.forEach(JvmProcess::close);
		this.engine.close();
		this.store.close();
		this.pool.close();
	}

	private static String url() {
		return Postgres.shared().getJdbcUrl("postgres", "postgres");
	}

	@Test
	void fairRequestsAreServedInTheOrderOfTheirArrival() {
		int requests = 24;
		try (LockHandle held = this.engine.acquire(Kind.FAIR.request())) {
			assertThat(held.isHeld()).isTrue();
			for (int i = 0; i < requests; i++) {
				// Each JVM has neighbours of its own and of both others.
				this.visitors.get((i * i / 2) % JVMS).send("FAIR 1 " + i);
				int waiting = i + 1;
				Awaitility.await().until(() -> this.engine.inspect(DatabaseVisitor.KEY).waiters().size() == waiting);
			}
		}
		Awaitility.await().until(() -> served().size() == requests);
		assertThat(served()).isEqualTo(IntStream.range(0, requests).mapToObj(String::valueOf).toList());
	}

	private List<String> served() {
		return this.database.queryForList("select name from served order by number", String.class);
	}

	@Test
	void noMoreHoldTheLockThanThereArePermits() {
		order("PERMIT 10 together", 4);
		order("EXCLUSIVE 5 alone", 1);
		awaitServed(JVMS * (4 * 10 + 5));
		List<Hold> together = holds(Kind.PERMIT);
		HistoryChecker.assertAtMost(DatabaseVisitor.PERMITS, together);
		HistoryChecker.assertExclusive(holds(Kind.EXCLUSIVE));
		HistoryChecker.assertApart(together, holds(Kind.EXCLUSIVE));
		assertThat(HistoryChecker.mostTogether(together)).as("all permits").hasSize(DatabaseVisitor.PERMITS);
		System.out.printf("Permits in PostgreSQL: %d holds, of which %d at a time, and %d alone%n", together.size(),
				HistoryChecker.mostTogether(together).size(), holds(Kind.EXCLUSIVE).size());
	}

	@Test
	void readersShareTheLockAndWritersDoNot() {
		order("SHARED 10 reader", 4);
		order("EXCLUSIVE 5 writer", 1);
		awaitServed(JVMS * (4 * 10 + 5));
		HistoryChecker.assertExclusive(holds(Kind.EXCLUSIVE));
		HistoryChecker.assertApart(holds(Kind.SHARED), holds(Kind.EXCLUSIVE));
		assertThat(HistoryChecker.mostTogether(holds(Kind.SHARED))).as("readers").hasSizeGreaterThan(1);
	}

	private void order(String order, int threads) {
		this.visitors.forEach((visitor) -> IntStream.range(0, threads).forEach((thread) -> visitor.send(order)));
	}

	private void awaitServed(int count) {
		Awaitility.await().atMost(Patience.PATIENCE).until(() -> served().size() == count);
		Awaitility.await().until(() -> this.engine.inspect(DatabaseVisitor.KEY).isFree());
	}

	/**
	 * Renewed by its JVM, and not before the last lease has run out.
	 */
	@ParameterizedTest
	@EnumSource(names = { "SHARED", "PERMIT" })
	void theLockOfAJvmThatIsKilledEndsWithItsLease(Kind kind) {
		JvmProcess killed = this.visitors.get(0);
		JvmProcess survivor = this.visitors.get(1);
		killed.send(kind + " 0 killed");
		survivor.send(kind + " 0 survivor");
		killed.awaitLine("holds killed");
		survivor.awaitLine("holds survivor");
		CompletableFuture<Void> alone = CompletableFuture.runAsync(() -> {
			try (History history = History.write(this.directory.resolve("alone"));
					LockHandle handle = this.engine.acquire(Kind.EXCLUSIVE.request())) {
				history.acquired(handle).end();
			}
		}, this.threads);
		Awaitility.await().until(() -> this.engine.inspect(DatabaseVisitor.KEY).waiters().size() == 1);
		killed.kill();
		Awaitility.await().until(() -> this.engine.inspect(DatabaseVisitor.KEY).holders().size() == 1);
		assertThat(alone).as("while the other JVM holds the lock").isNotDone();
		survivor.kill();
		Patience.get(alone, "the lock of those that were killed");
		HistoryChecker.assertApart(holds(kind), History.read(this.directory.resolve("alone")));
	}

	private List<Hold> holds(Kind kind) {
		return IntStream.range(0, JVMS)
			.mapToObj((jvm) -> History.read(this.directory.resolve("jvm-" + jvm + DatabaseVisitor.file(kind))))
			.flatMap(List::stream)
			.toList();
	}

}
