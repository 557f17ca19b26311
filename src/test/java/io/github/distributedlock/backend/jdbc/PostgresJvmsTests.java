package io.github.distributedlock.backend.jdbc;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.tck.History;
import io.github.distributedlock.tck.History.Hold;
import io.github.distributedlock.tck.HistoryChecker;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * JVMs exclude each other by a table of PostgreSQL, also when one of them is killed or
 * stopped while it holds the lock.
 */
@Tag("thorough")
class PostgresJvmsTests {

	private static final int ROUNDS = 40;

	@TempDir
	private Path directory;

	private final List<Path> histories = new ArrayList<>();

	@Test
	void noTwoHoldsOverlapThoughJvmsAreKilledAndStopped() {
		try (Postgres server = new Postgres(); HikariDataSource pool = server.pool()) {
			JdbcTemplate database = new JdbcTemplate(pool);
			database.execute(Platform.POSTGRESQL.schema("distributed_lock"));
			database.execute("create table number as select 0 as n");
			String url = server.server.getJdbcUrl("postgres", "postgres");
			try (JvmProcess stopped = start(url, 0)) {
				stopped.awaitLine("holds");
				List<JvmProcess> contenders = IntStream.range(0, 3).mapToObj((i) -> start(url, ROUNDS)).toList();
				Awaitility.await()
					.until(() -> database.queryForObject(
							"select count(*) from distributed_lock where waiters like '%since%since%'",
							Integer.class) == 1);
				stopped.pause();
				contenders.forEach((contender) -> contender.awaitLine("done"));
				try (JvmProcess killed = start(url, 0)) {
					killed.awaitLine("holds");
					killed.kill();
				}
				stopAWaiterThatIsGrantedTheKey(url, database);
				contenders.forEach(JvmProcess::close);
			}
			assertThat(database.queryForObject("select n from number", Integer.class)).isEqualTo(3 * ROUNDS + 3);
			assertThat(database.queryForList("select * from distributed_lock where lock_key <> ' ' and ends_at >"
					+ " clock_timestamp() at time zone 'UTC'"))
				.as("locks that are left")
				.isEmpty();
		}
		List<Hold> holds = this.histories.stream().flatMap((file) -> History.read(file).stream()).toList();
		assertThat(holds).hasSize(3 * ROUNDS + 5);
		HistoryChecker.assertExclusive(holds);
	}

	/**
	 * It hears of the grant when that has run out and others had the key.
	 */
	private void stopAWaiterThatIsGrantedTheKey(String url, JdbcTemplate database) {
		try (JvmProcess holder = start(url, 0)) {
			holder.awaitLine("holds");
			try (JvmProcess waiter = start(url, 1)) {
				Awaitility.await()
					.until(() -> database.queryForObject(
							"select count(*) from distributed_lock where waiters like '%@%'", Integer.class) == 1);
				waiter.pause();
				holder.send("");
				holder.awaitLine("done");
				try (JvmProcess last = start(url, 1)) {
					last.awaitLine("done");
				}
				waiter.resume();
				waiter.awaitLine("done");
			}
		}
	}

	private JvmProcess start(String url, int rounds) {
		Path history = this.directory.resolve("history-" + this.histories.size());
		this.histories.add(history);
		return JvmProcess.start(PostgresJvm.class, url, history.toString(), Integer.toString(rounds));
	}

}
