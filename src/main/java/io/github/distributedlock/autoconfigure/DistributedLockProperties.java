package io.github.distributedlock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

import io.github.distributedlock.aop.DistributedLockAdvisor;
import io.github.distributedlock.backend.redis.Atomicity;
import io.github.distributedlock.backend.redis.RedisLockSettings;
import io.github.distributedlock.backend.redis.Signals;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;

/**
 * Configuration of distributed locks. The values are checked at start-up, by the classes
 * that use them.
 *
 * @param enabled Whether locks are set up. If not, annotated methods run without their
 * locks.
 * @param backend Stores of the locks: redis, jdbc, memory, or the name of a
 * LockBackendFactory bean. The first is the default. The annotation names others by
 * 'store': redisLock, jdbcLock or memoryLock. Not set means redis, or jdbc with the
 * starter for databases.
 * @param waitTime Wait time of requests that have none of their own. Zero means one
 * attempt.
 * @param watchdogTimeout Time after which the locks of a dead JVM expire. Leases are
 * renewed while the lock is held. At least 1 second.
 * @param pollInterval Polling interval used when release notifications are unavailable.
 * @param localSlice Time for which threads of one JVM hand a lock over to each other
 * without asking the store. Zero switches local hand-over off.
 * @param keepTime Time for which a lock stays with the JVM when nobody uses the lock, so
 * that its next use there asks nobody. Other JVMs that ask get the lock meanwhile. Zero
 * means that no lock stays. At most 1 minute.
 * @param maxKeyBytes Longest key, in bytes of UTF-8.
 * @param warnHeldAfter Hold time after which a warning is logged, with the stack that
 * acquired the lock. Not set means never.
 * @param order Order of the lock among a method's advice. By default inside '@Async' and
 * Spring's own retries, and outside '@Cacheable' and '@Transactional'.
 * @param redis Locks in Redis.
 * @param jdbc Locks in a database.
 * @param stores Settings of stores that other libraries or the application add, by the
 * name of the store.
 * @param adapters Interfaces of other libraries by which code can lock, each off unless
 * switched on.
 */
// A misspelt name would change locks without a message: two applications could share a
// prefix.
@ConfigurationProperties(prefix = "distributed-lock", ignoreUnknownFields = false)
record DistributedLockProperties(@DefaultValue("true") boolean enabled, @Nullable Set<String> backend,
		@DefaultValue("5s") Duration waitTime, @DefaultValue("30s") Duration watchdogTimeout,
		@DefaultValue PollInterval pollInterval, @DefaultValue("10ms") Duration localSlice,
		@DefaultValue("0ms") Duration keepTime, @DefaultValue("1024") int maxKeyBytes, @Nullable Duration warnHeldAfter,
		@DefaultValue("" + DistributedLockAdvisor.DEFAULT_ORDER) int order, @DefaultValue Redis redis,
		@DefaultValue Jdbc jdbc, @DefaultValue Map<String, Map<String, String>> stores,
		@DefaultValue Adapters adapters) {

	/**
	 * Hands a value to its consumer, which may refuse the value. Spring Boot reports the
	 * refusal with the property, its value and the place where the value was set.
	 */
	static <T, R> R checked(String name, T value, Function<? super T, R> user) {
		try {
			return user.apply(value);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidConfigurationPropertyValueException("distributed-lock." + name, value,
					String.valueOf(ex.getMessage()));
		}
	}

	/**
	 * Stops the start if a number below 100 has no unit, in properties that are usually
	 * set in seconds: the number would mean milliseconds.
	 */
	static void refuseMistakes(Environment environment) {
		Binder binder = Binder.get(environment);
		for (String name : List.of("wait-time", "keep-time", "warn-held-after", "redis.command-timeout",
				"redis.replica-ack-timeout", "jdbc.command-timeout")) {
			binder.bind("distributed-lock." + name, String.class).ifBound((value) -> {
				if (value.matches("[1-9]\\d?")) {
					throw new InvalidConfigurationPropertyValueException("distributed-lock." + name, value,
							"it is " + value + " ms, since a number without a unit is milliseconds: write " + value
									+ "s if seconds are meant, or " + value + "ms");
				}
			});
		}
	}

	/**
	 * Polling interval used when release notifications are unavailable.
	 *
	 * @param min First pause between polls when release notifications are unavailable.
	 * Each pause is as long as the wait so far. Not used in databases, where the waiter
	 * that is next begins with 1 millisecond. At least 1 millisecond.
	 * @param max Longest pause between polls. At most 1 minute.
	 */
	record PollInterval(@DefaultValue("50ms") Duration min, @DefaultValue("500ms") Duration max) {
	}

	/**
	 * Locks in Redis.
	 *
	 * @param prefix Prefix of the names of the keys in Redis. The prefix has no braces,
	 * does not end with a colon, and is not like the name of a companion, such as
	 * lock-waiters.
	 * @param commandTimeout Longest time of a command to Redis, on the connections of the
	 * locks only.
	 * @param replicasToAck Number of replicas that have to acknowledge a lock before the
	 * lock counts as acquired. Not in a cluster. Zero means that no replica has to.
	 * @param replicaAckTimeout Longest time of the acknowledgement by replicas. Shorter
	 * than the command timeout.
	 * @param atomicity How a lock is compared and changed in one step. By default the
	 * first of lua, native and transaction that the server allows. With 'best-effort', a
	 * delayed command can change the lock of another holder.
	 * @param signals How waiters learn of a release: 'auto' by notification, and by
	 * polling where the server refuses notifications; 'pubsub' by notification, or the
	 * request fails; 'none' by polling.
	 * @param connectionFactory Name of the RedisConnectionFactory bean that the locks
	 * use. Needed only if there are several and none is primary.
	 */
	record Redis(@DefaultValue("lock") String prefix, @DefaultValue("1s") Duration commandTimeout,
			@DefaultValue("0") int replicasToAck, @DefaultValue("500ms") Duration replicaAckTimeout,
			@DefaultValue("auto") Atomicity atomicity, @DefaultValue("auto") Signals signals,
			@Nullable String connectionFactory) {
	}

	/**
	 * Locks in a database.
	 *
	 * @param dataSource Name of the DataSource bean that leads to the database. Needed
	 * only if there are several and none is primary.
	 * @param table Table of the locks, with its schema if it has one: schema.table.
	 * @param initializeSchema When to create the table at start-up if the table does not
	 * exist.
	 * @param commandTimeout Longest time of a statement, on the connections of the locks
	 * only.
	 * @param poolSize Connections of the locks' own pool, of which two serve renewals and
	 * notifications. Zero means that the locks use connections of the DataSource. They
	 * also do so if the DataSource is no HikariDataSource or leads to an embedded
	 * database.
	 * @param notifications Whether waiters learn of a release by notification, which only
	 * PostgreSQL has. With other databases, and behind a pooler of transactions, waiters
	 * poll.
	 */
	record Jdbc(@Nullable String dataSource, @DefaultValue("distributed_lock") String table,
			@DefaultValue("embedded") InitializeSchema initializeSchema, @DefaultValue("2s") Duration commandTimeout,
			@DefaultValue("6") int poolSize, @DefaultValue("true") boolean notifications) {
	}

	/**
	 * When to create the table. Has the values of Spring Boot's own type, which may be
	 * absent.
	 */
	enum InitializeSchema {

		/**
		 * Only in an embedded database.
		 */
		EMBEDDED,

		/**
		 * In any database.
		 */
		ALWAYS,

		/**
		 * Never.
		 */
		NEVER

	}

	/**
	 * Interfaces of other libraries by which code can lock, each off unless switched on.
	 *
	 * @param jdk Whether there is a JdkLocks bean, which makes locks of
	 * java.util.concurrent.locks.
	 * @param shedlock Whether there is a LockProvider bean for ShedLock.
	 * @param springIntegration Whether there is a LockRegistry bean for Spring
	 * Integration.
	 */
	record Adapters(@DefaultValue("false") boolean jdk, @DefaultValue("false") boolean shedlock,
			@DefaultValue("false") boolean springIntegration) {
	}

}
