package io.github.distributedlock.multijvm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.jdbc.JdbcLockBackend;
import io.github.distributedlock.backend.jdbc.JdbcLockSettings;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.ChildJvm;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.tck.History;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A JVM whose threads want one lock in a database, as they are told to, and write their
 * names into the table {@code served} while they have the lock. Arguments: address,
 * table, and how the files of the histories begin. It says "ready"; then each line that
 * it is sent is the kind of a request, how often it is made, and a name, for which it
 * says "done" or, if the lock is kept for ever, "holds".
 */
final class DatabaseVisitor {

	static final String KEY = "desk";

	static final Duration LEASE = Duration.ofSeconds(3);

	static final int PERMITS = 3;

	// So long that the holds of several threads overlap nearly always.
	private static final long HOLD_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	/** What a thread wants. */
	enum Kind {

		EXCLUSIVE, FAIR, SHARED, PERMIT;

		LockRequest request() {
			LockRequest request = LockRequest.of(KEY).waitTime(Patience.PATIENCE);
			return switch (this) {
				case EXCLUSIVE -> request;
				case FAIR -> request.fair(true);
				case SHARED -> request.mode(LockMode.SHARED);
				case PERMIT -> request.permits(PERMITS);
			};
		}

	}

	private DatabaseVisitor() {
	}

	static String file(Kind kind) {
		return "-" + kind.name().toLowerCase(Locale.ROOT);
	}

	public static void main(String[] arguments) throws InterruptedException {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(arguments[0]);
		pool.setMaximumPoolSize(8);
		JdbcLockBackend store = new JdbcLockBackend(pool,
				JdbcLockSettings.defaults().table(arguments[1]).commandTimeout(Patience.COMMAND));
		store.check();
		LockEngine engine = LockEngine.builder(store).watchdogTimeout(LEASE).build();
		JdbcTemplate database = new JdbcTemplate(pool);
		History[] histories = new History[Kind.values().length];
		for (Kind kind : Kind.values()) {
			histories[kind.ordinal()] = History.write(Path.of(arguments[2] + file(kind)));
		}
		System.out.println("ready");
		while (true) {
			String[] order = ChildJvm.awaitLine().split(" ");
			Kind kind = Kind.valueOf(order[0]);
			new Thread(() -> visit(engine, database, kind.request(), Integer.parseInt(order[1]), order[2],
					histories[kind.ordinal()]))
				.start();
		}
	}

	private static void visit(LockEngine engine, JdbcTemplate database, LockRequest request, int rounds, String name,
			History history) {
		for (int i = 0; i < Math.max(1, rounds); i++) {
			LockHandle handle = engine.acquire(request);
			History.Entry entry = history.acquired(handle);
			if (rounds == 0) {
				System.out.println("holds " + name);
				LockSupport.park();
			}
			database.update("insert into served (name) values (?)", name);
			LockSupport.parkNanos(HOLD_NANOS);
			entry.end();
			handle.close();
		}
		System.out.println("done " + name);
	}

}
