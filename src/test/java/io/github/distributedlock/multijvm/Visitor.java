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
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.jdbc.JdbcLockBackend;
import io.github.distributedlock.backend.jdbc.JdbcLockSettings;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.ChildJvm;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Driver;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.tck.History;

/**
 * A JVM whose threads want one lock, as they are told to. Arguments: how the files of the
 * histories begin, and the store: the URL of a database, or a client and a port of Redis.
 * The JVM says "ready". Then each line that is sent to the JVM is a kind of request, and
 * how often a thread makes the request. The thread says "done" in the end, or "holds" if
 * the number is 0: then the thread holds the lock until the JVM is killed.
 */
final class Visitor {

	static final String KEY = "desk";

	static final String TABLE = "jvms_lock";

	static final Duration LEASE = Duration.ofSeconds(3);

	static final int PERMITS = 3;

	// Long enough that the holds of several threads overlap nearly always.
	private static final long HOLD_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	/** The kinds of requests of a thread. */
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

		Path history(String begin) {
			return Path.of(begin + "-" + name().toLowerCase(Locale.ROOT));
		}

	}

	private Visitor() {
	}

	static JdbcLockBackend database(HikariDataSource pool, String url) {
		pool.setJdbcUrl(url);
		return new JdbcLockBackend(pool, JdbcLockSettings.defaults().table(TABLE).commandTimeout(Patience.COMMAND));
	}

	public static void main(String[] arguments) throws InterruptedException {
		LockBackend store = (arguments.length == 2) ? database(new HikariDataSource(), arguments[1])
				: Client.valueOf(arguments[1]).backend(Integer.parseInt(arguments[2]));
		LockEngine engine = LockEngine.builder(store).watchdogTimeout(LEASE).build();
		History[] histories = new History[Kind.values().length];
		for (Kind kind : Kind.values()) {
			histories[kind.ordinal()] = History.write(kind.history(arguments[0]));
		}
		// Connects before anything counts.
		engine.acquire(LockRequest.of("warm-up-" + ProcessHandle.current().pid()).waitTime(Patience.PATIENCE)).close();
		System.out.println("ready");
		while (true) {
			String[] order = ChildJvm.awaitLine().split(" ");
			Kind kind = Kind.valueOf(order[0]);
			new Thread(() -> visit(engine, kind.request(), Integer.parseInt(order[1]), histories[kind.ordinal()]))
				.start();
		}
	}

	private static void visit(LockEngine engine, LockRequest request, int rounds, History history) {
		for (int i = 0; i < Math.max(1, rounds); i++) {
			try (LockHandle handle = Driver.of(engine).acquire(request)) {
				History.Entry entry = history.acquired(handle);
				if (rounds == 0) {
					System.out.println("holds");
					LockSupport.park();
				}
				LockSupport.parkNanos(HOLD_NANOS);
				entry.end();
			}
		}
		System.out.println("done");
	}

}
