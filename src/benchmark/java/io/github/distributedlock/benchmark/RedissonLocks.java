package io.github.distributedlock.benchmark;

import java.util.concurrent.locks.Lock;
import java.util.function.BiFunction;

import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson.
 */
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
	public void close() {
		this.client.shutdown();
	}

}
