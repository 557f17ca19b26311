package io.github.distributedlock.benchmark;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.LongAdder;

import com.zaxxer.hikari.HikariDataSource;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;

import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;

final class ShedLocks implements Locks {

	/** The table of ShedLock's documentation. */
	static final String TABLE = "create table shedlock (name varchar(64) not null, lock_until timestamp(3) not null,"
			+ " locked_at timestamp(3) not null, locked_by varchar(255) not null, primary key (name))";

	private final Runnable connections;

	private final LockProvider provider;

	private final LongAdder attempts = new LongAdder();

	private ShedLocks(Runnable connections, LockProvider provider) {
		this.connections = connections;
		this.provider = provider;
	}

	static ShedLocks overJedis(int port) {
		JedisConnectionFactory factory = Connections.pooledJedis(port);
		return new ShedLocks(factory::destroy, new RedisLockProvider(factory));
	}

	static ShedLocks overJdbc(HikariDataSource pool) {
		return new ShedLocks(pool::close,
				new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
					.withJdbcTemplate(new JdbcTemplate(pool))
					.usingDbTime()
					.build()));
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
		this.connections.run();
	}

}
