package io.github.distributedlock.benchmark;

import java.time.Duration;
import java.util.function.IntFunction;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import com.baomidou.lock.LockTemplate;
import io.github.distributedlock.LockHandle;
import io.lettuce.core.RedisClient;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.postgresql.Driver;
import org.redisson.Redisson;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Jedis;

import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/**
 * The contestants, with their settings. Settings that are not named have their defaults.
 */
enum Contestant {

	/** This library over Jedis. */
	OURS("ours (Jedis)", LockHandle.class, "Spring Data Redis over Jedis, as it comes", OurLocks::overJedis),

	/** This library over Lettuce. */
	OURS_LETTUCE("ours (Lettuce)", LockHandle.class, "Spring Data Redis over Lettuce, as it comes",
			OurLocks::overLettuce),

	/** This library over Jedis, with keys that stay where they are used. */
	OURS_KEPT("ours, kept (Jedis)", LockHandle.class,
			"keepTime " + OurLocks.KEEP_TIME.toMillis() + " ms, Spring Data Redis over Jedis, as it comes",
			OurLocks::keptOverJedis),

	/** The lock that most people write by hand. */
	JEDIS("raw Jedis", Jedis.class, "pool of 128; SET NX PX and EVALSHA; when busy again after 1 ms",
			RawJedisLocks::new),

	/** The lock that most people write by hand. */
	LETTUCE("raw Lettuce", RedisClient.class, "one connection; SET NX PX and EVALSHA; when busy again after 1 ms",
			RawLettuceLocks::new),

	/** Redisson's lock that waits for a message. */
	REDISSON("Redisson RLock", Redisson.class, "RLock.lock(): renewed, waits for a message", RedissonLocks::new),

	/** Redisson's lock that polls. */
	REDISSON_SPIN("Redisson RSpinLock", Redisson.class, "RSpinLock.lock(): renewed, polls with a growing pause",
			RedissonLocks::spinning),

	/** Spring Integration's registry that waits for a message. */
	INTEGRATION("Spring Integration pub/sub", RedisLockType.class,
			"RedisLockRegistry, PUB_SUB_LOCK, over a pool of 128 of Jedis", IntegrationLocks::telling),

	/** Spring Integration's registry that polls. */
	INTEGRATION_SPIN("Spring Integration spin", RedisLockType.class,
			"RedisLockRegistry, SPIN_LOCK, over a pool of 128 of Jedis", IntegrationLocks::spinning),

	/** ShedLock, which does not wait. */
	SHEDLOCK("ShedLock", RedisLockProvider.class,
			"lockAtMostFor 30 s, over a pool of 128 of Jedis; when busy again after 1 ms", ShedLocks::overJedis),

	LOCK4J("Lock4j", LockTemplate.class, "LockTemplate over RedisTemplate and a pool of 128 of Jedis, expire 30 s",
			Lock4jLocks::new),

	/** This library on PostgreSQL. */
	OURS_JDBC("ours (PostgreSQL)", LockHandle.class, Contestant.POOL_OF_STARTER,
			(port) -> OurLocks.overJdbc(Connections.postgres(port), Duration.ZERO)),

	/** This library on PostgreSQL, with keys that stay where they are used. */
	OURS_JDBC_KEPT("ours, kept (PostgreSQL)", LockHandle.class,
			"keepTime " + OurLocks.KEEP_TIME.toMillis() + " ms, and the same pool",
			(port) -> OurLocks.overJdbc(Connections.postgres(port), OurLocks.KEEP_TIME)),

	/** The lock that most people write by hand. */
	JDBC("raw JDBC", Driver.class,
			"pool of 32 of Hikari; INSERT … ON CONFLICT DO UPDATE and UPDATE; when busy again after 1 ms",
			RawJdbcLocks::onPostgres),

	/** ShedLock's table. */
	SHEDLOCK_JDBC("ShedLock JDBC", JdbcTemplateLockProvider.class, Contestant.SHEDLOCK_SETTINGS,
			(port) -> ShedLocks.overJdbc(Connections.postgres(port))),

	/** Spring Integration's table. */
	INTEGRATION_JDBC("Spring Integration JDBC", JdbcLockRegistry.class, Contestant.INTEGRATION_SETTINGS,
			(port) -> IntegrationLocks.overJdbc(Connections.postgres(port))),

	/** This library on MariaDB. */
	OURS_MARIADB("ours (MariaDB)", LockHandle.class, Contestant.POOL_OF_STARTER,
			(port) -> OurLocks.overJdbc(Connections.mariaDb(port), Duration.ZERO)),

	/** The lock that most people write by hand on MariaDB. */
	MARIADB("raw JDBC (MariaDB)", org.mariadb.jdbc.Driver.class,
			"pool of 32 of Hikari; INSERT … ON DUPLICATE KEY UPDATE and UPDATE; when busy again after 1 ms",
			RawJdbcLocks::onMariaDb),

	/** ShedLock's table on MariaDB. */
	SHEDLOCK_MARIADB("ShedLock JDBC (MariaDB)", JdbcTemplateLockProvider.class, Contestant.SHEDLOCK_SETTINGS,
			(port) -> ShedLocks.overJdbc(Connections.mariaDb(port))),

	/** Spring Integration's table on MariaDB. */
	INTEGRATION_MARIADB("Spring Integration JDBC (MariaDB)", JdbcLockRegistry.class, Contestant.INTEGRATION_SETTINGS,
			(port) -> IntegrationLocks.overJdbc(Connections.mariaDb(port)));

	private static final String POOL_OF_STARTER = "pool of 32 of Hikari, with the command timeout, as the starter"
			+ " makes it";

	private static final String SHEDLOCK_SETTINGS = "usingDbTime(), lockAtMostFor 30 s, over a pool of 32 of Hikari;"
			+ " when busy again after 1 ms";

	private static final String INTEGRATION_SETTINGS = "JdbcLockRegistry over a pool of 32 of Hikari, polls every"
			+ " 100 ms";

	private final String label;

	private final Class<?> product;

	private final String settings;

	private final IntFunction<Locks> opener;

	Contestant(String label, Class<?> product, String settings, IntFunction<Locks> opener) {
		this.label = label;
		this.product = product;
		this.settings = settings;
		this.opener = opener;
	}

	Locks open(int port) {
		// Some of them tell a lot, which takes time.
		((Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME)).setLevel(Level.ERROR);
		return this.opener.apply(port);
	}

	String label() {
		return this.label;
	}

	String settings() {
		return this.settings;
	}

	boolean isOurs() {
		return this.product == LockHandle.class;
	}

	String version() {
		return Versions.of(this.product);
	}

}
