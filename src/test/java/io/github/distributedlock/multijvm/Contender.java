package io.github.distributedlock.multijvm;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.backend.redis.Atomicity;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.AllowedCommands;
import io.github.distributedlock.fixtures.AtomicityCase;
import io.github.distributedlock.fixtures.ChildJvm;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.Driver;
import io.github.distributedlock.fixtures.Patience;
import io.github.distributedlock.tck.History;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;

/**
 * A JVM whose threads increment counters in Redis, each counter under a lock, as fast and
 * as often as ordered.
 */
final class Contender {

	static final int THREADS = 8;

	static final int KEYS = 5;

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final LockEngine engine;

	private final HostAndPort server;

	private final History history;

	private final long duration;

	private Contender(LockEngine engine, HostAndPort server, History history, Duration duration) {
		this.engine = engine;
		this.server = server;
		this.history = history;
		this.duration = duration.toNanos();
	}

	static String key(int number) {
		return "counter-" + number;
	}

	/**
	 * Returns the order for such a JVM, which says "ready", waits for "go", and says how
	 * many "increments" were made.
	 */
	static String order(Client client, AtomicityCase where, Duration duration, Path history) {
		return String.join(" ", client.name(), where.server().toString(), where.rules().name(), where.setting().name(),
				duration.toString(), history.toString());
	}

	public static void main(String[] arguments) throws Exception {
		while (true) {
			carryOut(ChildJvm.awaitLine().split(" ", 6));
		}
	}

	private static void carryOut(String[] order) throws Exception {
		Client client = Client.valueOf(order[0]);
		AtomicityCase where = new AtomicityCase("there", HostAndPort.from(order[1]), AllowedCommands.valueOf(order[2]),
				Atomicity.valueOf(order[3]), "ordered");
		try (RedisLockBackend backend = where.backend(client, RedisLockSettings.defaults().prefix());
				LockEngine engine = LockEngine.builder(backend)
					.application(client.name())
					.keepTime(Duration.ofMillis(Long.getLong("lock.keep", 0)))
					.build();
				History history = History.write(Path.of(order[5]))) {
			// Connects before anything counts.
			engine.run(LockRequest.of("warm-up").waitTime(Patience.PATIENCE), () -> {
			});
			System.out.println("ready");
			ChildJvm.awaitLine();
			System.out.println(
					"increments " + new Contender(engine, where.server(), history, Duration.parse(order[4])).contend());
		}
	}

	private long contend() throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		long end = System.nanoTime() + this.duration;
		List<Future<Long>> counts = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			counts.add(threads.submit((Callable<Long>) () -> incrementUntil(end)));
		}
		long sum = 0;
		for (Future<Long> count : counts) {
			sum += count.get();
		}
		threads.shutdown();
		threads.awaitTermination(1, TimeUnit.SECONDS);
		return sum;
	}

	private long incrementUntil(long end) {
		long count = 0;
		try (Jedis counters = new Jedis(this.server.getHost(), this.server.getPort(), (int) PATIENCE.toMillis())) {
			// Once at least, however slow the machine is.
			while (count == 0 || System.nanoTime() - end < 0) {
				String key = key(ThreadLocalRandom.current().nextInt(KEYS));
				try (LockHandle handle = Driver.of(this.engine).acquire(LockRequest.of(key).waitTime(PATIENCE))) {
					History.Entry entry = this.history.acquired(handle);
					String value = counters.get(key);
					// An increment of another thread meanwhile, if there is one, is lost.
					counters.set(key, String.valueOf(Long.parseLong(value) + 1));
					entry.end();
				}
				count++;
			}
		}
		return count;
	}

}
