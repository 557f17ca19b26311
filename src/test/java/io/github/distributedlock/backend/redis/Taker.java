package io.github.distributedlock.backend.redis;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.distributedlock.fixtures.Patience;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.params.SetParams;

/**
 * Asks for a number of locks again and again, all of them in one pipeline, until each of
 * them was taken once.
 */
final class Taker implements AutoCloseable {

	private static final long LEASE_MILLIS = 10_000;

	private static final long IDLE_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

	private final Queue<Wish> wishes = new ConcurrentLinkedQueue<>();

	private final Jedis jedis;

	private final String owner;

	private final Thread thread;

	private volatile boolean over;

	Taker(HostAndPort server, String owner) {
		this.jedis = new Jedis(server);
		this.owner = owner;
		this.thread = new Thread(this::take, "taker");
		this.thread.setDaemon(true);
		this.thread.start();
	}

	Wish wants(String name) {
		Wish wish = new Wish(name, new CountDownLatch(1));
		this.wishes.add(wish);
		return wish;
	}

	private void take() {
		while (!this.over) {
			List<Wish> open = new ArrayList<>(this.wishes);
			if (open.isEmpty()) {
				LockSupport.parkNanos(IDLE_NANOS);
				continue;
			}
			Map<Wish, Response<String>> answers = new LinkedHashMap<>();
			Pipeline pipeline = this.jedis.pipelined();
			open.forEach((wish) -> answers.put(wish,
					pipeline.set(wish.name, this.owner, SetParams.setParams().nx().px(LEASE_MILLIS))));
			pipeline.sync();
			answers.forEach((wish, answer) -> {
				if (answer.get() != null) {
					this.wishes.remove(wish);
					wish.taken.countDown();
				}
			});
		}
	}

	@Override
	public void close() {
		this.over = true;
		Patience.join(this.thread);
		this.jedis.close();
	}

	/**
	 * A lock that is to be taken.
	 *
	 * @param name the name in Redis
	 * @param taken open until the lock is taken
	 */
	record Wish(String name, CountDownLatch taken) {

		boolean isFulfilled() {
			return this.taken.getCount() == 0;
		}

		void await() {
			Patience.await(this.taken, this.name + " comes free");
		}

	}

}
