package io.github.distributedlock.benchmark;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

final class RedissonLocks implements Locks {

	private final RedissonClient client;

	private final BiFunction<RedissonClient, String, Lock> kind;

	RedissonLocks(int port) {
		this(port, RedissonClient::getLock);
	}

	private RedissonLocks(int port, BiFunction<RedissonClient, String, Lock> kind) {
		Config config = new Config();
		config.useSingleServer().setAddress("redis://" + Connections.HOST + ":" + port);
		this.client = Redisson.create(config);
		this.kind = kind;
	}

	static RedissonLocks spinning(int port) {
		return new RedissonLocks(port, RedissonClient::getSpinLock);
	}

	@Override
	public Mutex mutex(String key) {
		return new JdkMutex(this.kind.apply(this.client, key));
	}

	@Override
	public Mutex permit(String key, int permits) {
		RPermitExpirableSemaphore semaphore = this.client.getPermitExpirableSemaphore(key);
		semaphore.trySetPermits(permits);
		return new Permit(semaphore);
	}

	@Override
	public void close() {
		this.client.shutdown();
	}

	/**
	 * A permit with a lease: without a lease, the permit of a dead JVM never comes back.
	 */
	private static final class Permit implements Mutex {

		private final RPermitExpirableSemaphore semaphore;

		private @Nullable String id;

		private Permit(RPermitExpirableSemaphore semaphore) {
			this.semaphore = semaphore;
		}

		@Override
		public void lock() {
			try {
				this.id = this.semaphore.acquire(30, TimeUnit.SECONDS);
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

		@Override
		public void unlock() {
			this.semaphore.release(this.id);
		}

	}

}
