package io.github.distributedlock.backend.redis;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.github.distributedlock.fixtures.Patience;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.SetParams;

/**
 * Locks that are given back just when their lease runs out, while somebody else asks for
 * them all the time. A lock that the other got must still be there afterwards.
 * <p>
 * Server and test share a clock, so the moment at which a key is over is known: one
 * millisecond after the last one of its life.
 */
public final class ReleaseRace {

	private static final int THREADS = 8;

	private static final int LEASE_MILLIS = 2;

	/** A release begins up to this long before the lease is over. */
	private static final int LEAD_MICROS = 600;

	/** A release begins up to this long after the end of the lease. */
	private static final int LAG_MICROS = 100;

	private static final String OWNER = "the owner";

	private static final String TAKER = "the next owner";

	private final HostAndPort server;

	private final KeyNames names;

	private final Release release;

	private final AtomicInteger keys = new AtomicInteger();

	/**
	 * @param server the server of the locks
	 * @param prefix the beginning of their names
	 * @param release how the locks are given back
	 */
	ReleaseRace(HostAndPort server, String prefix, Release release) {
		this.server = server;
		this.names = new KeyNames(prefix);
		this.release = release;
	}

	/**
	 * Runs the race.
	 * @param releases the number of releases
	 * @return the result
	 */
	Outcome run(int releases) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		try (Taker taker = new Taker(this.server, TAKER)) {
			List<Future<Outcome>> parts = new ArrayList<>();
			for (int i = 0; i < THREADS; i++) {
				int part = (releases + i) / THREADS;
				parts.add(threads.submit((Callable<Outcome>) () -> run(part, taker)));
			}
			Outcome all = new Outcome(0, 0, 0);
			for (Future<Outcome> part : parts) {
				all = all.and(part.get((1 + releases / 100) * Patience.PATIENCE.toSeconds(), TimeUnit.SECONDS));
			}
			return all;
		}
		finally {
			threads.shutdownNow();
		}
	}

	private Outcome run(int releases, Taker taker) throws InterruptedException {
		Outcome all = new Outcome(0, 0, 0);
		try (Jedis jedis = new Jedis(this.server)) {
			for (int i = 0; i < releases; i++) {
				all = all.and(runOnce(jedis, taker));
			}
		}
		return all;
	}

	private Outcome runOnce(Jedis jedis, Taker taker) throws InterruptedException {
		String key = "key-" + this.keys.incrementAndGet();
		String name = KeyNames.text(this.names.lock(key));
		long last = System.currentTimeMillis() + LEASE_MILLIS;
		jedis.set(name, OWNER, SetParams.setParams().pxAt(last));
		Taker.Wish wish = taker.wants(name);
		sleepUntil(Instant.ofEpochMilli(last + 1)
			.plus(ThreadLocalRandom.current().nextInt(-LEAD_MICROS, LAG_MICROS), ChronoUnit.MICROS));
		boolean takenBefore = wish.isFulfilled();
		boolean released = this.release.release(key, name, OWNER);
		wish.await();
		boolean deleted = !TAKER.equals(jedis.getDel(name));
		boolean met = !takenBefore && (!released || deleted);
		return new Outcome(1, met ? 1 : 0, deleted ? 1 : 0);
	}

	private static void sleepUntil(Instant moment) {
		long nanos = Instant.now().until(moment, ChronoUnit.NANOS);
		while (nanos > 0) {
			LockSupport.parkNanos(nanos);
			nanos = Instant.now().until(moment, ChronoUnit.NANOS);
		}
	}

	/**
	 * A way to give a lock back.
	 */
	interface Release {

		/**
		 * Releases a lock.
		 * @param key the user's key
		 * @param name the name in Redis
		 * @param owner the value of the key
		 * @return whether the lock was still the owner's, as far as this way can tell
		 */
		boolean release(String key, String name, String owner);

	}

	/**
	 * The result of the race.
	 *
	 * @param releases how many locks were given back
	 * @param met how many of these leases ran out during the release
	 * @param deleted how many locks of others are gone
	 */
	public record Outcome(int releases, int met, int deleted) {

		Outcome and(Outcome other) {
			return new Outcome(this.releases + other.releases, this.met + other.met, this.deleted + other.deleted);
		}

	}

}
