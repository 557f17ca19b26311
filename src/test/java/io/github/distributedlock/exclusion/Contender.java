package io.github.distributedlock.exclusion;

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
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.test.ChildJvm;
import io.github.distributedlock.test.Client;
import io.github.distributedlock.test.History;
import redis.clients.jedis.Jedis;

/**
 * A JVM whose threads increment counters in Redis, each under its lock, as fast as they
 * can. Arguments: client, port, seconds, file for the history.
 */
final class Contender {

	static final int THREADS = 8;

	static final int KEYS = 5;

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final LockEngine engine;

	private final int port;

	private final History history;

	private final long duration;

	private Contender(LockEngine engine, int port, History history, Duration duration) {
		this.engine = engine;
		this.port = port;
		this.history = history;
		this.duration = duration.toNanos();
	}

	static String key(int number) {
		return "counter-" + number;
	}

	public static void main(String[] arguments) throws Exception {
		int port = Integer.parseInt(arguments[1]);
		Duration duration = Duration.ofSeconds(Long.parseLong(arguments[2]));
		try (RedisLockBackend backend = Client.valueOf(arguments[0]).backend(port);
				LockEngine engine = LockEngine.builder(backend).application(arguments[0]).build();
				History history = History.write(Path.of(arguments[3]))) {
			// Connects before anything counts.
			engine.run("warm-up", () -> {
			});
			System.out.println("ready");
			ChildJvm.awaitLine();
			System.out.println("increments " + new Contender(engine, port, history, duration).contend());
		}
		// Their threads must not keep the JVM.
		System.exit(0);
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
		try (Jedis counters = new Jedis("localhost", this.port, (int) PATIENCE.toMillis())) {
			while (System.nanoTime() - end < 0) {
				String key = key(ThreadLocalRandom.current().nextInt(KEYS));
				try (LockHandle handle = this.engine.acquire(LockRequest.of(key).waitTime(PATIENCE))) {
					History.Entry entry = this.history.acquired(handle);
					String value = counters.get(key);
					// What another thread writes meanwhile is lost, if there is one.
					counters.set(key, String.valueOf(Long.parseLong(value) + 1));
					entry.end();
				}
				count++;
			}
		}
		return count;
	}

}
