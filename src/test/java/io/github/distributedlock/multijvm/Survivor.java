package io.github.distributedlock.multijvm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

import com.zaxxer.hikari.HikariDataSource;
import io.github.distributedlock.LockException;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockMode;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.LockBackend;
import io.github.distributedlock.backend.jdbc.JdbcLockBackend;
import io.github.distributedlock.backend.jdbc.JdbcLockSettings;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.ChildJvm;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Driver;
import io.github.distributedlock.fixtures.RedisSentinels;
import io.github.distributedlock.tck.History;

import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

/**
 * A JVM with a thread for each {@link Kind} of request. Each thread wants locks again and
 * again, whatever fails, and writes down its holds, in a file with the name of the kind,
 * until somebody ends the JVM. Arguments: client of Redis, port of the server or ports of
 * the Sentinels or address of a database, prefix of the locks, directory of the
 * histories.
 */
final class Survivor {

	static final Duration LEASE = Duration.ofSeconds(2);

	static final Duration COMMAND_TIMEOUT = LEASE.dividedBy(4);

	/**
	 * The line, with the time, that tells of a lock that was lost before it was handed
	 * out.
	 */
	static final String LOST_BEFORE = "lost before it was handed out at ";

	static final List<String> KEYS = List.of("a", "b", "c", "d");

	private static final int MOST_KEYS = 3;

	private static final Duration LONGEST_WAIT = Duration.ofMinutes(5);

	private static final long LONGEST_HOLD = Duration.ofMillis(2).toNanos();

	private static final int HOLDS_PER_LONG_ONE = 500;

	private static final int LEASES_PER_LONGEST = 10;

	/** Less than the lease that there is at least when a lock is handed out. */
	private static final long STANDSTILL = LEASE.toNanos() / 4;

	private final LockEngine engine;

	private final Path directory;

	private volatile long runs = System.nanoTime();

	private volatile long stoodStill = this.runs;

	private Survivor(LockEngine engine, Path directory) {
		this.engine = engine;
		this.directory = directory;
	}

	/** The kinds of requests that the threads make. */
	enum Kind {

		EXCLUSIVE, SHARED, FAIR, FENCED, SEVERAL, ASYNC, LONG;

		private LockRequest request(Random random) {
			// The order must not matter.
			List<String> keys = new ArrayList<>(KEYS);
			Collections.shuffle(keys, random);
			int count = (this == SEVERAL || this == ASYNC) ? 1 + random.nextInt(MOST_KEYS) : 1;
			Duration wait = (random.nextInt(4) == 0) ? Duration.ofMillis(random.nextInt(20)) : LONGEST_WAIT;
			return LockRequest.of((this == LONG) ? List.of("long") : keys.subList(0, count))
				.waitTime(wait)
				.mode((this == SHARED) ? LockMode.SHARED : LockMode.EXCLUSIVE)
				.fair(this == FAIR)
				.fenced(this == FENCED);
		}

		private long holdNanos(Random random) {
			if (this == LONG) {
				return (long) (random.nextDouble() * LEASES_PER_LONGEST * LEASE.toNanos());
			}
			boolean outlivesALease = random.nextInt(HOLDS_PER_LONG_ONE) == 0;
			return outlivesALease ? LEASE.toNanos() : (long) (random.nextDouble() * LONGEST_HOLD);
		}

	}

	public static void main(String[] arguments) throws InterruptedException, IOException {
		LockBackend store = arguments[1].startsWith("jdbc:") ? table(arguments[1])
				: Client.valueOf(arguments[0])
					.backend(servers(arguments[1].split(",")),
							RedisLockSettings.defaults().commandTimeout(COMMAND_TIMEOUT).prefix(arguments[2]));
		LockEngine engine = LockEngine.builder(store).watchdogTimeout(LEASE).build();
		Survivor survivor = new Survivor(engine, Files.createDirectory(Path.of(arguments[3])));
		for (Kind kind : Kind.values()) {
			start(kind.name(), () -> survivor.surviveForEver(kind));
		}
		start("watch", survivor::watchForEver);
		ChildJvm.awaitLine();
	}

	private static LockBackend table(String url) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(url);
		pool.setMaximumPoolSize(Kind.values().length + 3);
		pool.setInitializationFailTimeout(-1);
		return new JdbcLockBackend(pool, JdbcLockSettings.defaults().commandTimeout(COMMAND_TIMEOUT));
	}

	private static RedisConfiguration servers(String[] ports) {
		if (ports.length == 1) {
			return new RedisStandaloneConfiguration("localhost", Integer.parseInt(ports[0]));
		}
		RedisSentinelConfiguration sentinels = new RedisSentinelConfiguration(RedisSentinels.MASTER, Set.of());
		for (String port : ports) {
			sentinels.sentinel("127.0.0.1", Integer.parseInt(port));
		}
		return sentinels;
	}

	private static void start(String name, Runnable action) {
		Thread thread = new Thread(action, name);
		thread.setDaemon(true);
		thread.start();
	}

	private void watchForEver() {
		while (true) {
			LockSupport.parkNanos(STANDSTILL / 50);
			long now = System.nanoTime();
			if (now - this.runs > STANDSTILL) {
				this.stoodStill = now;
			}
			this.runs = now;
		}
	}

	private boolean stoodStillJustNow() {
		long now = System.nanoTime();
		return now - this.runs > STANDSTILL || now - this.stoodStill < STANDSTILL;
	}

	private void surviveForEver(Kind kind) {
		Random random = ThreadLocalRandom.current();
		History history = History.write(this.directory.resolve(kind.name()));
		while (true) {
			try {
				acquire(kind, random).ifPresent((handle) -> {
					hold(handle, kind.holdNanos(random), history);
					if (kind == Kind.ASYNC) {
						handle.closeAsync().join();
					}
					handle.close();
				});
			}
			catch (LockException | CompletionException ex) {
				System.out.println(ex);
			}
		}
	}

	private Optional<LockHandle> acquire(Kind kind, Random random) {
		LockRequest request = kind.request(random);
		if (kind != Kind.ASYNC) {
			return Driver.of(this.engine).tryAcquire(request);
		}
		CompletableFuture<Optional<LockHandle>> asked = this.engine.tryAcquireAsync(request);
		if (random.nextBoolean()) {
			LockSupport.parkNanos((long) (random.nextDouble() * LONGEST_HOLD));
			if (asked.cancel(false)) {
				return Optional.empty();
			}
		}
		return asked.join();
	}

	private void hold(LockHandle handle, long nanos, History history) {
		// The history is written to a disk, which may take long.
		boolean wasLost = !handle.isHeld();
		History.Entry entry = history.acquired(handle);
		if (wasLost && !stoodStillJustNow()) {
			System.out.println(LOST_BEFORE + System.nanoTime() + ": " + handle);
		}
		handle.onLost(entry::lost);
		long begin = System.nanoTime();
		for (long left = nanos; left > 0 && handle.isHeld(); left = nanos - (System.nanoTime() - begin)) {
			LockSupport.parkNanos(Math.min(left, STANDSTILL / 2));
			entry.look();
		}
		entry.end();
	}

}
