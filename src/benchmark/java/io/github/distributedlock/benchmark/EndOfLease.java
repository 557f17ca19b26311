package io.github.distributedlock.benchmark;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.distributedlock.LockHandle;
import io.github.distributedlock.LockRequest;
import io.github.distributedlock.ReleaseOn;
import io.github.distributedlock.backend.redis.RedisLockBackend;
import io.github.distributedlock.engine.LockEngine;
import io.github.distributedlock.fixtures.ChildJvm;
import io.github.distributedlock.fixtures.Client;
import io.github.distributedlock.fixtures.JvmProcess;
import io.github.distributedlock.fixtures.RedisServers;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Jedis;

import static org.awaitility.Awaitility.await;

/**
 * Measures how long after the end of a lease on the server the next holder has the lock,
 * for each way in which a lease may end without a word. Ten locks at a time, on an
 * embedded server.
 *
 * <pre>
 * ./mvnw -q spring-boot:test-run -Dspring-boot.run.main-class=io.github.distributedlock.benchmark.EndOfLease
 * </pre>
 */
public final class EndOfLease {

	private static final int ROUNDS = Integer.getInteger("rounds", 20);

	private static final int LOCKS = 10;

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final Duration LEASE = Duration.ofSeconds(1);

	private EndOfLease() {
	}

	public static void main(String[] args) throws Exception {
		((Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME)).setLevel(Level.ERROR);
		ExecutorService waiters = Executors.newFixedThreadPool(LOCKS);
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED); Jedis admin = server.admin()) {
			for (Client client : Client.values()) {
				new Rounds(client, server.port(), admin, waiters).measure();
			}
		}
		System.exit(0);
	}

	/**
	 * The rounds with one client.
	 */
	private record Rounds(Client client, int port, Jedis admin, ExecutorService waiters) {

		void measure() throws Exception {
			try (RedisLockBackend backend = this.client.backend(this.port);
					LockEngine engine = LockEngine.builder(backend).build()) {
				engine.run("warm-up", () -> {
				});
				killed(engine);
				try (JvmProcess holder = holder()) {
					others(engine, Ending.FIXED, (key, millis) -> hold(holder, Ending.FIXED, key, millis));
					others(engine, Ending.FIXED_HERE,
							(key, millis) -> Ending.FIXED_HERE.hold(engine, key, Duration.ofMillis(millis)));
					others(engine, Ending.MIN_HOLD_TIME,
							(key, millis) -> hold(holder, Ending.MIN_HOLD_TIME, key, millis));
					others(engine, Ending.EXPIRY, (key, millis) -> hold(holder, Ending.EXPIRY, key, millis));
				}
			}
		}

		private void killed(LockEngine engine) throws Exception {
			List<Double> late = new ArrayList<>();
			for (int round = 0; round < ROUNDS; round++) {
				try (JvmProcess holder = holder()) {
					Map<String, CompletableFuture<Long>> waiting = new LinkedHashMap<>();
					for (int i = 0; i < LOCKS; i++) {
						String key = this.client + "-killed-" + round + "-" + i;
						hold(holder, Ending.KILLED, key, LEASE.toMillis());
						waiting.put(key, waitFor(engine, key));
					}
					awaitRegistered(waiting.keySet());
					TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextLong(LEASE.toMillis()));
					holder.kill();
					late.addAll(late(waiting));
				}
			}
			print(Ending.KILLED, late);
		}

		private void others(LockEngine engine, Ending ending, Holding holding) throws Exception {
			List<Double> late = new ArrayList<>();
			for (int round = 0; round < ROUNDS; round++) {
				Map<String, CompletableFuture<Long>> waiting = new LinkedHashMap<>();
				for (int i = 0; i < LOCKS; i++) {
					String key = this.client + "-" + ending + "-" + round + "-" + i;
					holding.hold(key, ThreadLocalRandom.current().nextLong(LEASE.toMillis(), 2 * LEASE.toMillis()));
					waiting.put(key, waitFor(engine, key));
				}
				late.addAll(late(waiting));
			}
			print(ending, late);
		}

		private JvmProcess holder() {
			return JvmProcess.start(CommandedHolder.class, this.client.name(), String.valueOf(this.port));
		}

		private static void hold(JvmProcess holder, Ending ending, String key, long millis) {
			holder.send(ending + " " + key + " " + millis);
			holder.awaitLine("holds " + key);
		}

		/**
		 * Waits for a lock.
		 * @return when the lock was there
		 */
		private CompletableFuture<Long> waitFor(LockEngine engine, String key) {
			return CompletableFuture.supplyAsync(() -> {
				try (LockHandle handle = engine.acquire(LockRequest.of(key).waitTime(PATIENCE))) {
					return System.nanoTime();
				}
			}, this.waiters);
		}

		/**
		 * Waits until all wait for the end, and none for a first connection.
		 */
		private void awaitRegistered(Set<String> keys) {
			await().atMost(PATIENCE)
				.until(() -> keys.stream().allMatch((key) -> this.admin.zcard("lock-waiters:{" + key + "}") == 1));
		}

		/**
		 * How much later than on the server the leases ended here, in milliseconds.
		 */
		private List<Double> late(Map<String, CompletableFuture<Long>> waiting) throws Exception {
			Map<String, Long> ends = new LinkedHashMap<>();
			for (String key : waiting.keySet()) {
				long asked = System.nanoTime();
				ends.put(key, asked + TimeUnit.MILLISECONDS.toNanos(this.admin.pttl("lock:{" + key + "}")));
			}
			List<Double> late = new ArrayList<>();
			for (Map.Entry<String, CompletableFuture<Long>> one : waiting.entrySet()) {
				long taken = one.getValue().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
				late.add((taken - ends.get(one.getKey())) / 1_000_000.0);
			}
			return late;
		}

		private void print(Ending ending, List<Double> late) {
			double[] sorted = late.stream().mapToDouble(Double::doubleValue).sorted().toArray();
			System.out.printf("%s, %s: p50 %.1f ms, p99 %.1f ms, max %.1f ms (%d locks)%n", this.client, ending.text,
					sorted[sorted.length / 2], sorted[sorted.length * 99 / 100], sorted[sorted.length - 1],
					sorted.length);
		}

	}

	private interface Holding {

		void hold(String key, long millis);

	}

	/**
	 * The ways in which a lease ends.
	 */
	private enum Ending {

		KILLED("killed holder JVM", (engine, request, lease) -> engine.acquire(request)),

		FIXED("fixed lease in another JVM", (engine, request, lease) -> engine.acquire(request.leaseTime(lease))),

		FIXED_HERE("fixed lease in the same JVM", FIXED.way),

		MIN_HOLD_TIME("minHoldTime", (engine, request, lease) -> engine.acquire(request.minHoldTime(lease)).close()),

		EXPIRY("EXPIRY", (engine, request,
				lease) -> engine.acquire(request.leaseTime(lease).releaseOn(ReleaseOn.EXPIRY)).close());

		private final String text;

		private final Way way;

		Ending(String text, Way way) {
			this.text = text;
			this.way = way;
		}

		void hold(LockEngine engine, String key, Duration lease) {
			this.way.hold(engine, LockRequest.of(key), lease);
		}

		interface Way {

			void hold(LockEngine engine, LockRequest request, Duration lease);

		}

	}

	/**
	 * A JVM that holds locks on command. Arguments: client, port.
	 */
	static final class CommandedHolder {

		private CommandedHolder() {
		}

		public static void main(String[] arguments) throws InterruptedException {
			LockEngine engine = LockEngine.builder(Client.valueOf(arguments[0]).backend(Integer.parseInt(arguments[1])))
				.watchdogTimeout(LEASE.multipliedBy(3))
				.build();
			while (true) {
				String[] words = ChildJvm.awaitLine().split(" ");
				Ending.valueOf(words[0]).hold(engine, words[1], Duration.ofMillis(Long.parseLong(words[2])));
				System.out.println("holds " + words[1]);
			}
		}

	}

}
