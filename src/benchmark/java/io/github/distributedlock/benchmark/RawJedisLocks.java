package io.github.distributedlock.benchmark;

import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.LongAdder;

import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPool;
import redis.clients.jedis.params.SetParams;

/**
 * The lock that most people write by hand, over a pool of Jedis.
 */
@SuppressWarnings("deprecation") // A pool of Jedis is what most have.
final class RawJedisLocks implements Locks {

	private final JedisPool pool;

	private final String digest;

	private final LongAdder attempts = new LongAdder();

	RawJedisLocks(int port) {
		this.pool = new JedisPool(Connections.pool(), Connections.HOST, port);
		try (Jedis jedis = this.pool.getResource()) {
			this.digest = jedis.scriptLoad(Spinning.RELEASE);
		}
	}

	@Override
	public Mutex mutex(String key) {
		return new Spinning(this.attempts) {

			@Override
			boolean tryLock(String owner) {
				try (Jedis jedis = RawJedisLocks.this.pool.getResource()) {
					return jedis.set(key, owner, SetParams.setParams().nx().px(LEASE_MILLIS)) != null;
				}
			}

			@Override
			void unlock(String owner) {
				try (Jedis jedis = RawJedisLocks.this.pool.getResource()) {
					jedis.evalsha(RawJedisLocks.this.digest, List.of(key), List.of(owner));
				}
			}

		};
	}

	@Override
	public OptionalLong attempts() {
		return OptionalLong.of(this.attempts.sum());
	}

	@Override
	public void close() {
		this.pool.close();
	}

}
