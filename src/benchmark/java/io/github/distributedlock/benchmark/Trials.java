package io.github.distributedlock.benchmark;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.distributedlock.fixtures.RedisServers;
import io.github.distributedlock.fixtures.RedisTrial;
import io.github.distributedlock.tck.LockTrial;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Tries the locks of other libraries as {@link LockTrial} does, each with a lease of 3 s
 * and pauses of up to 6 s, on one real server. Writes a row of a table for each, with the
 * sums of all trials.
 */
final class Trials {

	private static final long LEASE = 3_000;

	private Trials() {
	}

	public static void main(String[] arguments) throws Exception {
		int trials = Integer.getInteger("trials", 3);
		Duration time = Duration.ofSeconds(Integer.getInteger("seconds", 30));
		try (RedisServers.Server server = RedisServers.start(RedisServers.EMBEDDED)) {
			for (Class<? extends LockTrial.Subject> subject : List.of(RedisTrial.class, RedissonLock.class,
					HomeMade.class)) {
				for (boolean asks : (subject == HomeMade.class) ? new boolean[] { false }
						: new boolean[] { true, false }) {
					long[] sums = new long[7];
					Duration longest = Duration.ZERO;
					for (int i = 0; i < trials; i++) {
						LockTrial.Report report = LockTrial.run(subject, Map.of(RedisTrial.PORT, "" + server.port(),
								RedisTrial.ASKS, "" + asks, RedisTrial.LEASE, "" + LEASE), time,
								Duration.ofMillis(2 * LEASE));
						System.out.println(subject.getSimpleName() + ": " + report);
						report.failures()
							.stream()
							.distinct()
							.limit(3)
							.forEach((line) -> System.out.println("  " + line));
						long[] found = { report.holds().size(), report.kills(), report.pauses(), report.overlapped(),
								report.overlaps().size(), report.regressions().size(), report.failures().size() };
						Arrays.setAll(sums, (j) -> sums[j] + found[j]);
						longest = (report.longestWait().compareTo(longest) > 0) ? report.longestWait() : longest;
					}
					System.out.printf("| %s, %s | %d × %d s | %d | %d, %d | %d, of %d holds | %d | %s s | %d |%n",
							subject.getSimpleName(), asks ? "asks" : "does not ask", trials, time.toSeconds(), sums[0],
							sums[1], sums[2], sums[4], sums[3], sums[5], longest.toMillis() / 100 / 10.0, sums[6]);
				}
			}
		}
	}

	/**
	 * Redisson's {@code RLock}, which its watchdog renews.
	 */
	static final class RedissonLock implements LockTrial.Subject {

		private final RedissonClient client;

		RedissonLock() {
			Config config = new Config();
			config.useSingleServer()
				.setAddress("redis://" + Connections.HOST + ":" + Integer.getInteger(RedisTrial.PORT));
			config.setLockWatchdogTimeout(LEASE);
			this.client = Redisson.create(config);
		}

		@Override
		public LockTrial.Held acquire(String key) {
			RLock lock = this.client.getLock(key);
			lock.lock();
			return new LockTrial.Held() {

				@Override
				public boolean isHeld() {
					return !RedisTrial.asks() || lock.isHeldByCurrentThread();
				}

				@Override
				public void release() {
					lock.unlock();
				}

			};
		}

	}

	/**
	 * The lock that many write themselves: sets a key that is not there, and deletes the
	 * key in the end, whosever that is by then.
	 */
	static final class HomeMade implements LockTrial.Subject {

		private final StringRedisTemplate redis = new StringRedisTemplate(
				Connections.pooledJedis(Integer.getInteger(RedisTrial.PORT)));

		@Override
		public LockTrial.Held acquire(String key) {
			while (!this.redis.opsForValue().setIfAbsent(key, "locked", Duration.ofMillis(LEASE))) {
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
			}
			return () -> this.redis.delete(key);
		}

	}

}
