package io.github.distributedlock.benchmark;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.LongAdder;

import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;

import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/**
 * ShedLock.
 */
final class ShedLocks implements Locks {

	private final JedisConnectionFactory connections;

	private final RedisLockProvider provider;

	private final LongAdder attempts = new LongAdder();

	ShedLocks(int port) {
		this.connections = Connections.pooledJedis(port);
		this.provider = new RedisLockProvider(this.connections);
	}

	@Override
	public Mutex mutex(String key) {
		return new Spinning(this.attempts) {

			private Optional<SimpleLock> lock = Optional.empty();

			@Override
			boolean tryLock(String owner) {
				this.lock = ShedLocks.this.provider
					.lock(new LockConfiguration(Instant.now(), key, Duration.ofMillis(LEASE_MILLIS), Duration.ZERO));
				return this.lock.isPresent();
			}

			@Override
			void unlock(String owner) {
				this.lock.orElseThrow().unlock();
			}

		};
	}

	@Override
	public OptionalLong attempts() {
		return OptionalLong.of(this.attempts.sum());
	}

	@Override
	public void close() {
		this.connections.destroy();
	}

}
