package io.github.distributedlock.backend.jdbc;

import java.nio.file.Path;
import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.ChildJvm;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.tck.History;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A JVM that adds to a number by reading and writing it, which only a lock makes right.
 * Arguments: address of the database, file of the history, rounds; without rounds it
 * holds the lock until somebody ends it.
 */
final class PostgresJvm {

	static final String KEY = "number";

	static final Duration LEASE = Duration.ofSeconds(3);

	private PostgresJvm() {
	}

	public static void main(String[] arguments) throws InterruptedException {
		int rounds = Integer.parseInt(arguments[2]);
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(arguments[0]);
		JdbcTemplate database = new JdbcTemplate(pool);
		JdbcLockBackend store = new JdbcLockBackend(pool, JdbcLockSettings.defaults().commandTimeout(Patience.COMMAND));
		store.check();
		LockEngine engine = LockEngine.builder(store).watchdogTimeout(LEASE).build();
		History history = History.write(Path.of(arguments[1]));
		for (int i = 0; i < Math.max(1, rounds); i++) {
			try (LockHandle handle = engine.acquire(LockRequest.of(KEY).waitTime(Patience.PATIENCE))) {
				History.Entry entry = history.acquired(handle);
				if (rounds == 0) {
					System.out.println("holds");
					ChildJvm.awaitLine();
				}
				Integer number = database.queryForObject("select n from number", Integer.class);
				database.update("update number set n = ?", number + 1);
				entry.end();
			}
		}
		engine.close();
		System.out.println("done");
	}

}
